import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { untilDone } from './until.ts';

/** Folder where `.ci/get-tools` installs coding agents. */
export const { AGENTS = '' } = process.env;
/** Address in the documented commands. */
export const DOCUMENTED_ADDRESS = 'http://127.0.0.1:8090/mcp';

export interface Agent {
  /** Commands that make the agent use the stand-in model, before the documented ones. */
  before?: string;
  run: string;
  /** Folder or file of its transcripts, in its home. */
  transcripts: string;
  /** True if its transcripts show that a program drives it, as this test does. */
  showsProgram?: boolean;
}

export const AGENT_COMMANDS: Record<string, Agent> = {
  'Claude Code': {
    run: `export ANTHROPIC_BASE_URL="$API" ANTHROPIC_API_KEY=k ENABLE_TOOL_SEARCH=false
      export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
      claude -p "$TASK" --allowedTools mcp__forecue --model claude-opus-4-8`,
    transcripts: '.claude/projects',
    showsProgram: true,
  },
  Codex: {
    run: `export KEY=k
      codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m scripted -c model_provider=own \\
        -c "model_providers.own={name='own',base_url='$API/v1',wire_api='responses',env_key='KEY'}" "$TASK"`,
    transcripts: '.codex/sessions',
    showsProgram: true,
  },
  'Gemini CLI': {
    before: `mkdir ~/.gemini
      echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >~/.gemini/settings.json`,
    run: `export GOOGLE_GEMINI_BASE_URL="$API" GEMINI_API_KEY=k
      gemini -p "$TASK" --yolo --skip-trust -m gemini-2.5-flash`,
    transcripts: '.gemini/tmp',
  },
  opencode: {
    run: `export OPENCODE_DISABLE_AUTOUPDATE=1
      export OPENCODE_CONFIG_CONTENT='{"provider":{"own":{"npm":"@ai-sdk/openai-compatible",
        "options":{"baseURL":"'$API'/v1","apiKey":"k"},"models":{"scripted":{}}}}}'
      opencode run --auto -m own/scripted "$TASK"`,
    transcripts: '.local/share/opencode/opencode.db',
    showsProgram: true,
  },
  'Qwen Code': {
    // Otherwise its model finds tools by a search of its own.
    before: `mkdir ~/.qwen; echo '{"tools":{"toolSearch":{"enabled":false}}}' >~/.qwen/settings.json`,
    run: `export OPENAI_BASE_URL="$API/v1" OPENAI_API_KEY=k OPENAI_MODEL=scripted
      qwen "$TASK" --yolo --auth-type openai`,
    transcripts: '.qwen/projects',
  },
  Cline: {
    run: 'cline auth openai -k k -m scripted -b "$API/v1" && cline "$TASK"',
    transcripts: '.cline/data/sessions',
  },
  Continue: {
    before: `mkdir ~/.continue
      printf 'name: own\\nversion: 1.0.0\\nschema: v1\\n' >~/.continue/config.yaml
      echo "models: [{ name: m, provider: openai, model: m, apiKey: k, apiBase: $API/v1 }]" >>~/.continue/config.yaml`,
    run: 'cn -p "$TASK" --auto --config ~/.continue/config.yaml',
    transcripts: '.continue/sessions',
  },
};

/** A browser that only notes which address it is to open. */
const NOTING_BROWSER = '#!/bin/sh\necho "$1" >"$HOME/opened"\n';

/** Makes an empty home with a project. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'forecue-agent-'));
  for (const folder of ['project', 'bin']) await mkdir(join(home, folder));
  await writeFile(join(home, 'bin/xdg-open'), NOTING_BROWSER, { mode: 0o755 });
  return home;
}

/** Some agents leave a process behind. */
export async function leaveHome(home: string): Promise<void> {
  spawnSync('pkill', ['-f', home]);
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
}

/** Runs commands of an agent in its home. */
export function runAgent(home: string, commands: readonly string[], env: Record<string, string>) {
  const child = spawn('bash', ['-ec', commands.join('\n')], {
    cwd: join(home, 'project'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(home, 'bin')}:${join(AGENTS, 'node_modules/.bin')}:${process.env['PATH']}`,
      HOME: home,
      TERM: 'dumb',
      BROWSER: 'xdg-open',
      // Some take a machine without a display for one without a browser.
      DISPLAY: ':99',
      ...env,
    },
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const fail = async () => {
    const [out, err, [code]] = await ended;
    assert.equal(code, 0, `${out}\n${err}`);
  };
  return {
    /** Throws what the agent has shown if it fails. */
    succeeds: fail,
    /** Returns the address that the agent has opened in a browser. */
    async opened(withinMs: number): Promise<string> {
      const opened = untilDone(() => readFile(join(home, 'opened'), 'utf8'), withinMs);
      await Promise.race([opened, fail()]);
      return (await opened).trim();
    },
  };
}

/** Returns the commands below the agent's name in the documentation. */
export async function documentedCommand(agent: string): Promise<string> {
  const documented = await readFile('docs/mcp.md', 'utf8');
  const [, commands] = documented.split(`\n# ${agent}\n`);
  assert.ok(commands, `docs/mcp.md has no command for ${agent}`);
  return commands.split(/\n(?:# |```)/)[0] ?? '';
}

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { describeWhere } from '../support/describe-where.ts';
import { useServer } from '../support/listening.ts';
import { recording } from '../support/recording.ts';
import { proposeReplies } from '../support/replies.ts';
import { ScriptedModel, type Step } from '../support/scripted-model.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

/** Folder where `.ci/get-tools` installs coding agents. */
const { AGENTS = '' } = process.env;
/** Address in the documented commands. */
const DOCUMENTED = 'http://127.0.0.1:8090/mcp';
const TASK = 'Exercise every tool.';
const LAST_WORDS = 'All tools were exercised.';

/** Each tool once, then a call with a wrong argument; what the agent must show its model of each answer. */
const CALLS: [name: string, args: object, shown: RegExp][] = [
  ['predict_reply', { agent_input: 'Which colour?' }, /Blue/],
  ['send_feedback', { id: '$LAST_ID', status: 'accepted' }, /accepted/],
  ['remember', { text: 'Likes blue' }, /fact:/],
  ['recall', { query: 'blue' }, /Likes blue/],
  ['get_context', {}, /Likes blue/],
  ['search', { query: 'blue' }, /Likes blue/],
  ['fetch', { id: '$LAST_ID' }, /Likes blue/],
  ['forget', { id: '$LAST_ID' }, /fact:/],
  [
    'record_events',
    { events: [{ type: 'note', id: 'n-1', session_id: '$SESSION', text: 'Hi' }] },
    /accepted/,
  ],
  ['stats', {}, /memory/],
  ['predict_reply', { agent_input: 'Which?', k: 99 }, /less than or equal to 5/],
];

interface Agent {
  /** Commands that make the agent use the stand-in model, before the documented ones. */
  before?: string;
  run: string;
  /** Folder or file of its transcripts, in its home. */
  transcripts: string;
  /** True if its transcripts show that a program drives it, as this test does. */
  showsProgram?: boolean;
}

const AGENT_COMMANDS: Record<string, Agent> = {
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

describeWhere(AGENTS !== '', 'coding agents', 'no AGENTS', function () {
  this.timeout(300_000);
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  const model = new ScriptedModel();
  const modelServer = useServer(model.server);
  let tools: TestProcess;
  let person: UserClient;
  let home: string;
  before(async () => {
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    tools = await startToolServer(system.webs[0]?.url ?? '');
  });
  after(() => tools?.stop('SIGTERM'));
  beforeEach(async () => {
    person = await signUp(system);
    home = await mkdtemp(join(tmpdir(), 'forecue-agent-'));
    await mkdir(join(home, 'project'));
  });
  // Some agents leave a process behind.
  afterEach(async () => {
    spawnSync('pkill', ['-f', home]);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  });

  for (const [name, agent] of Object.entries(AGENT_COMMANDS))
    it(`${name} as documented lists the tools, calls each, shows its model an error, and leaves a transcript of what was said`, async () => {
      const script = scriptFor(person.id);
      model.follow(script);
      await run(name, agent);
      const { results } = model;
      assert.equal(results.length, CALLS.length, results.join('\n'));
      for (const [place, [tool, , shown]] of CALLS.entries())
        assert.match(results[place] ?? '', shown, `${tool} ${results[place]}`);
      assert.doesNotMatch(results.join(), /Structured content/i);
      const said = [TASK, ...script.map(({ say }) => say)];
      const events = await imported(agent.transcripts);
      const found = events.map((event) => event['text'] ?? event['prompt'] ?? event['reply']);
      assert.deepEqual(found, said.slice(0, found.length));
      assert.equal(events[0]?.['agent'] === 'program', agent.showsProgram ?? false);
      // The agent's last words are held back where the session may go on.
      assert.ok(found.length >= said.length - 1, found.join('\n'));
    });

  function scriptFor(session: string): Step[] {
    const steps = CALLS.map(([name, args]) => ({
      say: `I call ${name}.`,
      call: { name, args: JSON.parse(JSON.stringify(args).replace('$SESSION', session)) },
    }));
    return [...steps, { say: LAST_WORDS }];
  }

  /** Runs the documented command, then the agent, in a home of its own. */
  async function run(name: string, { before = '', run }: Agent): Promise<void> {
    const add = (await documentedCommand(name)).replaceAll(DOCUMENTED, tools.url);
    const child = spawn('bash', ['-ec', [before, add, run].join('\n')], {
      cwd: join(home, 'project'),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${join(AGENTS, 'node_modules/.bin')}:${process.env['PATH']}`,
        HOME: home,
        TERM: 'dumb',
        TASK,
        FORECUE_KEY: await issueKey(person),
        API: modelServer.url,
      },
    });
    const [shown, [code]] = await Promise.all([
      Promise.all([text(child.stdout), text(child.stderr)]),
      once(child, 'exit'),
    ]);
    assert.equal(code, 0, shown.join('\n'));
  }

  /** Returns the events with what was said according to the agent's transcript, in order. */
  async function imported(folder: string) {
    const { stdout } = await runAdmin(['import', '--user', person.email, '--json', join(home, folder)], {
      DATABASE_URL: system.database.url,
    });
    const { body } = await recording.sessions(person);
    // The other session has the note that a tool recorded.
    const found = body.results.find(({ session_id }) => session_id !== person.id);
    assert.ok(found, stdout);
    const { results } = (await recording.sessionEvents(person, found.session_id)).body;
    return results.filter(({ type }) => !String(type).startsWith('session.'));
  }
});

/** Returns the commands below the agent's name in the documentation. */
async function documentedCommand(agent: string): Promise<string> {
  const documented = await readFile('docs/mcp.md', 'utf8');
  const [, commands] = documented.split(`\n# ${agent}\n`);
  assert.ok(commands, `docs/mcp.md has no command for ${agent}`);
  return commands.split(/\n(?:# |```)/)[0] ?? '';
}

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from '../../shared/schemas/decisions.ts';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { buildApprover, runIn } from '../support/approver.ts';
import { describeWhere } from '../support/describe-where.ts';
import { useServer } from '../support/listening.ts';
import { ScriptedModel } from '../support/scripted-model.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { Terminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

/** Folder where `.ci/get-tools` installs coding agents. */
const { AGENTS = '' } = process.env;
/** The dialog is promised within a second; the machine of the tests may be busy. */
const DIALOG_WITHIN_MS = 10_000;
/** Codex's rollout tells an answer by hand by how long it took. */
const READING_MS = 1000;

interface Agent {
  command: string;
  /** Its tool for shell commands, and the input with which it asks the person. */
  tool: string;
  inputOf(command: string): object;
  /** The dialog that asks the person, and the key for Yes. */
  dialog: RegExp;
  yes: string;
  ready: RegExp;
  /** Files of a home in which the agent knows the person, and uses the stand-in model. */
  files(home: string, model: string): Record<string, string>;
  /** Records what the person decides, as documented: as it happens, or after each turn. */
  record: { at: 'start' | 'turn'; args: string[] };
  /** What the person answers at the start, by keys. */
  greet?(terminal: Terminal): Promise<void>;
}

const TERMINAL_AGENTS: Record<string, Agent> = {
  'Claude Code': {
    // Its auto mode cannot check behind a stand-in model.
    command: 'claude --permission-mode default --model claude-opus-4-8',
    tool: 'Bash',
    inputOf: (command) => ({ command, description: 'The user approved this.' }),
    dialog: /Do you want to proceed\?/,
    yes: 'Enter',
    ready: /\? for shortcuts/,
    files: (home) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        projects: { [join(home, 'project')]: { hasTrustDialogAccepted: true } },
      }),
      '.claude/settings.json': '{}',
    }),
    record: { at: 'start', args: ['--yes'] },
  },
  Codex: {
    command: 'codex --no-alt-screen',
    tool: 'exec_command',
    inputOf: (command) => ({
      cmd: command,
      sandbox_permissions: 'require_escalated',
      justification: 'The user approved this.',
    }),
    dialog: /Would you like to run the following command\?/,
    yes: 'y',
    ready: /\? for shortcuts/,
    files: (home, model) => ({
      '.codex/config.toml': `model = "scripted"
model_provider = "own"
[model_providers.own]
name = "own"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "KEY"
[projects."${join(home, 'project')}"]
trust_level = "trusted"
`,
    }),
    record: { at: 'turn', args: ['.codex/sessions'] },
    async greet(terminal) {
      await terminal.shows(/Hooks need review/i);
      await terminal.press('2');
      await terminal.press('Enter');
    },
  },
};

describeWhere(AGENTS !== '', 'approver in terminals', 'no AGENTS', function () {
  this.timeout(300_000);
  let system: System<TestProcess>;
  let folder: string;
  let home: string;
  let person: UserClient;
  before(async () => {
    folder = await buildApprover();
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    // The server is killed.
    system = await startProcesses();
    person = await signUp(system);
    home = await mkdtemp(join(tmpdir(), 'forecue-terminal-'));
    await mkdir(join(home, 'project'));
    await writeFile(join(home, 'project/package.json'), '{"scripts":{"test":"echo tested"}}');
  });
  afterEach(async () => {
    await system?.stop();
    // Codex leaves a server behind, which runs its hooks.
    spawnSync('pkill', ['-f', home]);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  });

  for (const [name, agent] of Object.entries(TERMINAL_AGENTS))
    describe(name, () => {
      const model = new ScriptedModel(agent.tool);
      const modelServer = useServer(model.server);

      it(`${name} asks the person, then Forecue, and the person again once Forecue is killed`, async () => {
        for (const [path, text] of Object.entries(agent.files(home, modelServer.url))) {
          await mkdir(join(home, path, '..'), { recursive: true });
          await writeFile(join(home, path), text);
        }
        const forecue = async (scopes: string[], ...args: string[]) => {
          const env = { FORECUE_URL: person.url, FORECUE_KEY: await issueKey(person, scopes) };
          const { code, stdout, stderr } = await runIn(
            home,
            [process.execPath, join(folder, 'forecue.mjs'), ...args],
            { env },
          );
          assert.equal(code, 0, stdout + stderr);
        };
        const record = () => forecue(['write', 'record'], 'record', ...agent.record.args);
        await forecue(['predict'], 'approve', 'install', '--wait-ms', '2000');
        if (agent.record.at === 'start') await record();
        await using terminal = await Terminal.start(agent.command, {
          socket: join(home, 'terminal'),
          cwd: join(home, 'project'),
          env: environment(modelServer.url),
        });
        await agent.greet?.(terminal);
        await terminal.shows(agent.ready);

        let askedAt = 0;
        /** Milliseconds from what the agent's model asked to each dialog. */
        const waits: number[] = [];
        /** Asks for a command in a turn of its own, and resolves with what it printed. */
        const turn = async (
          nth: number,
          command: string,
          { first, answer }: { first?: () => Promise<void>; answer(): Promise<void> },
        ) => {
          const call = { name: agent.tool, args: agent.inputOf(command) };
          askedAt = 0;
          const before = async () => {
            await first?.();
            askedAt = performance.now();
          };
          model.follow([{ say: 'I call.', call, before }, { say: `Turn ${nth} is over.` }]);
          const words = `Begin turn ${nth}`;
          await terminal.type(words);
          await terminal.shows(new RegExp(words));
          await terminal.press('Enter');
          await answer();
          await terminal.shows(new RegExp(`Turn ${nth} is over`));
          return model.results.at(-1) ?? '';
        };
        const byHand = async () => {
          await until(() => askedAt > 0);
          await terminal.shows(agent.dialog);
          waits.push(Math.round(performance.now() - askedAt));
          await sleep(READING_MS);
          await terminal.press(agent.yes);
        };
        const decided = async () => {
          const sql = `select count(*)::int as count from recording_events where type = 'agent.permission'`;
          return (await system.sql<{ count: number }>(sql))[0]?.count;
        };

        for (const [at, command] of ['npm test -- one', 'npm test -- two --silent'].entries()) {
          assert.match(await turn(at + 1, command, { answer: byHand }), /tested/);
          if (agent.record.at === 'turn') await record();
          await until(async () => (await decided()) === at + 1);
        }
        const byForecue = await turn(3, 'npm test -- three', { answer: async () => undefined });
        assert.match(byForecue, /tested three/);
        const { results } = (await person.request<{ results: Decision[] }>('GET', '/api/decisions/')).body;
        assert.deepEqual(
          results.map(({ asked, answer, project }) => ({ asked, answer, project })),
          [{ asked: 'npm test -- three', answer: 'allow', project: join(home, 'project') }],
        );

        const first = async () => void (await system.webs[0]?.stop('SIGKILL'));
        assert.match(await turn(4, 'npm test -- four', { first, answer: byHand }), /tested four/);
        const [, , killed = Number.POSITIVE_INFINITY] = waits;
        console.log(
          `      ${name}: ms to the dialog: ${waits.slice(0, 2).join(', ')}; once Forecue is killed ${killed}`,
        );
        assert.ok(killed < DIALOG_WITHIN_MS, `${killed} ms`);
      });
    });

  function environment(model: string): NodeJS.ProcessEnv {
    return {
      PATH: `${join(AGENTS, 'node_modules/.bin')}:${process.env['PATH']}`,
      HOME: home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      KEY: 'k',
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_AUTH_TOKEN: 'k',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
  }
});

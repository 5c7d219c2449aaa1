import assert from 'node:assert/strict';
import { letIn } from '../connect/logging-in-program.ts';
import {
  AGENT_COMMANDS,
  AGENTS,
  DOCUMENTED_ADDRESS,
  documentedCommand,
  leaveHome,
  newHome,
  runAgent,
} from '../support/coding-agents.ts';
import { describeWhere } from '../support/describe-where.ts';
import { useServer } from '../support/listening.ts';
import { ScriptedModel } from '../support/scripted-model.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

const TASK = 'Remember what I like.';
const WITHIN_MS = 200_000;

describeWhere(AGENTS !== '', 'coding agents that log in', 'no AGENTS', function () {
  this.timeout(300_000);
  // Otherwise Claude Code and Codex are known by documents of their makers, which a test cannot reach.
  const system = useSystem({ workers: 0, env: { CLIENT_DOCUMENTS: 'off' } });
  const model = new ScriptedModel();
  const modelServer = useServer(model.server);
  let tools: TestProcess;
  let home: string;
  before(async () => {
    const { port } = new URL(system.webs[0]?.url ?? '');
    const env = { PUBLIC_URL: `http://localhost:${port}` };
    tools = await startToolServer(system.webs[0]?.url ?? '', env);
  });
  after(() => tools?.stop('SIGTERM'));
  beforeEach(async () => {
    home = await newHome();
  });
  afterEach(() => leaveHome(home));

  for (const name of ['Claude Code', 'Codex', 'opencode'])
    it(`${name} gets from the address of the tool server to its first call of a tool by its own log-in, without a key`, async () => {
      model.follow([
        { say: 'I remember it.', call: { name: 'remember', args: { text: 'Likes kelp' } } },
        { say: 'Done.' },
      ]);
      const { before = '', run } = AGENT_COMMANDS[name] ?? assert.fail(name);
      const documented = await documentedCommand(`${name}, by its log-in`);
      // Claude Code logs in on a terminal only.
      const logIn = documented
        .replaceAll(DOCUMENTED_ADDRESS, tools.url)
        .replace(/^claude mcp login.*/m, 'script -qec "$&" /dev/null');
      const agent = runAgent(home, [before, logIn, run], { TASK, API: modelServer.url });
      const { returned } = await letIn(await agent.opened(WITHIN_MS), ['read', 'predict', 'write']);
      assert.equal((await fetch(returned)).ok, true);
      await agent.succeeds();
      assert.match(model.results.join(), /fact:/);
    });
});

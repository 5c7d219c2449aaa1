import assert from 'node:assert/strict';
import { join } from 'node:path';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import {
  AGENT_COMMANDS,
  AGENTS,
  type Agent,
  DOCUMENTED_ADDRESS,
  documentedCommand,
  leaveHome,
  newHome,
  runAgent,
} from '../support/coding-agents.ts';
import { describeWhere } from '../support/describe-where.ts';
import { useServer } from '../support/listening.ts';
import { recording } from '../support/recording.ts';
import { proposeReplies } from '../support/replies.ts';
import { ScriptedModel, type Step } from '../support/scripted-model.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

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
    home = await newHome();
  });
  afterEach(() => leaveHome(home));

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
    const add = (await documentedCommand(name)).replaceAll(DOCUMENTED_ADDRESS, tools.url);
    const FORECUE_KEY = await issueKey(person);
    const agent = runAgent(home, [before, add, run], { TASK, FORECUE_KEY, API: modelServer.url });
    await agent.succeeds();
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

import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { Operator, startBoard } from '../support/board.ts';
import type { AppClient } from '../support/client.ts';
import { raw } from '../support/fake-provider.ts';
import { fillMemoryTables, setProfile } from '../support/memory.ts';
import { promote, say } from '../support/promotion.ts';
import { event, post } from '../support/recording.ts';
import { predictBatch, predictReply } from '../support/replies.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';
import { openSession, startToolServer } from '../support/tool-server.ts';
import { until } from '../support/until.ts';

const MARKER = 'quixotic-zephyr-4711';
const PASSWORD = `${MARKER} with 9 staples`;
const WRONG_TOKEN = `${MARKER} and more, of 32 bytes`;

describe('secrets and texts in the logs', () => {
  const system = useProcesses({
    webs: 0,
    workerEntry: ['workers/main.ts', 'all'],
    env: { LOG_LEVEL: 'trace' },
  });
  let tools: TestProcess;
  let board: number;
  let app: AppClient;
  let person: UserClient;
  let client: Client;
  let key: string;
  before(async () => {
    board = await startBoard(system);
    tools = await startToolServer(system.webs[0]?.url ?? '', { LOG_LEVEL: 'trace' });
    app = await system.app({ name: `App ${MARKER}` });
    person = await signUp(system, { email: `${MARKER}@example.com`, password: PASSWORD, name: MARKER });
    key = await issueKey(person);
    ({ client } = await openSession(tools, key));
  });
  after(async () => {
    await client?.close();
    await tools?.stop();
  });

  const processes = () => [...system.webs, ...system.workers, tools];

  const assertNothingIn = () => {
    const { ADMIN_TOKEN, JWT_SECRET, OPENAI_API_KEY, DATABASE_URL = '' } = system.env;
    const own = [ADMIN_TOKEN, JWT_SECRET, OPENAI_API_KEY, new URL(DATABASE_URL).password];
    const secrets = [MARKER, app.key, key, person.access, person.refresh, ...own].filter(Boolean);
    for (const one of processes())
      for (const secret of secrets)
        assert.ok(
          !one.log.includes(secret as string),
          one.log.split('\n').find((line) => line.includes(secret as string)) ?? '',
        );
  };

  it('no process logs texts that people record, add to memory, ask about, promote or search for', async () => {
    system.provider.respond(raw(MARKER));
    await setProfile(system, person, MARKER, { likes: MARKER });
    await fillMemoryTables(system, person);
    await say(person, [`agent:What of ${MARKER}?`, `Do ${MARKER}`, `Never ${MARKER}`]);
    await post(person, [event({ prompt: MARKER, agent: MARKER, session_id: MARKER })]);
    await post(person, `[{"prompt": "${MARKER}"`);
    await promote(person, 'episodes');
    await predictReply(person, { agent_input: `Shall I call it ${MARKER}?` });
    await predictBatch(person, [`One ${MARKER}`, `Two ${MARKER}`]);
    await person.request('GET', `/api/memory/raw/?q=${MARKER}`);
    await person.request('GET', `/api/memory/facts/?tag=${MARKER}`);
    await person.request('POST', '/api/auth/login/', { email: person.email, password: MARKER });
    await person.request('POST', '/api/auth/login/', { email: MARKER, password: MARKER });
    assertNothingIn();
  });

  it('the tool server logs no text or key of a call, whether the call succeeds or fails', async () => {
    await client.callTool({ name: 'remember', arguments: { content: MARKER } });
    await client.callTool({ name: 'recall', arguments: { query: MARKER } });
    await client.callTool({ name: MARKER, arguments: { q: MARKER } }).catch(() => undefined);
    for (const body of [MARKER, JSON.stringify({ jsonrpc: '2.0', id: 1, method: MARKER })])
      await fetch(tools.url, {
        method: 'POST',
        headers: { authorization: `Bearer service_${MARKER}`, 'content-type': 'application/json' },
        body,
      });
    await until(() => tools.log.includes('"msg":"request"'));
    assertNothingIn();
  });

  it('no ingress logs a board token, right or wrong; a sign-in with a wrong token is logged as a 401', async () => {
    const operator = new Operator(board);
    assert.equal((await operator.signIn(WRONG_TOKEN)).status, 401);
    await operator.signIn(system.env['ADMIN_TOKEN'] ?? '');
    await operator.get(`find?id=${MARKER}`);
    await operator.get(MARKER);
    await until(() =>
      system.webs[0]?.log
        .split('\n')
        .some((line) => line.includes('"route":"/admin/sign-in"') && line.includes('"status":401')),
    );
    assertNothingIn();
  });
});

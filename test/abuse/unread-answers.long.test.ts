import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId } from '../../shared/ids.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import type { BatchResponse } from '../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { pacedUntil } from '../support/paced-until.ts';
import { event, post, recording } from '../support/recording.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { askUnread, sip } from '../support/unread.ts';

const LARGE = 7_800_000;
const SEND_TIMEOUT_MS = 2000;
/** Without a bound it is 25 MB for each unread answer, over 700 MB together. */
const GROWTH_MB = 350;

describe('answers that are not read', () => {
  let system: System<TestProcess>;
  /** Cuts a client off after 30 s, as by default. */
  let patient: TestProcess;
  let person: UserClient;
  const sockets: Socket[] = [];
  before(async () => {
    // One issuer, so that both ingresses take the same tokens.
    const env = { SEND_TIMEOUT_MS: `${SEND_TIMEOUT_MS}`, PUBLIC_URL: 'http://localhost' };
    system = await startProcesses({ workers: 0, env });
    patient = await system.startWeb({ SEND_TIMEOUT_MS: '' });
    person = await withEvent(LARGE);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => system?.stop());

  /** A person with an event `large` of so many bytes, in a session of their own id. */
  const withEvent = async (bytes: number) => {
    const one = await signUp(system);
    const filler = 'x'.repeat(bytes);
    const row = event({ id: 'large', session_id: one.id, type: 'custom.large', payload: { filler } });
    assert.equal((await post(one, [row])).status, 201);
    return one;
  };

  const unread = async (one: UserClient, path: string, at?: string) => {
    const socket = await askUnread(one, path, at);
    sockets.push(socket);
    return socket;
  };

  const pathsOf = ({ id }: UserClient) => [
    '/api/recording/events/large/',
    `/api/recording/sessions/${id}/events/`,
    '/api/export/',
  ];

  it('answers that are not read are cut off, and what they held is there for the next', async () => {
    for (const bytes of [0, 1000]) {
      const holding = await Promise.all([1, 2].map(() => unread(person, '/api/recording/events/large/')));
      await Promise.all(holding.map((socket) => once(socket, 'readable')));
      const sipping = setInterval(() => {
        for (const socket of holding) if (bytes > 0) socket.read(bytes);
      }, 100);
      // The third one does not fit into the share of its account.
      const { status, tookMs } = await recording.event(person, 'large');
      assert.equal(status, 200);
      assert.ok(tookMs > SEND_TIMEOUT_MS / 2, `there was room after ${tookMs} ms`);
      clearInterval(sipping);
      for (const { length } of await Promise.all(holding.map((socket) => text(socket))))
        assert.ok(length < 0.9 * LARGE, `${length} bytes were sent`);
    }
  });

  it('answers that are not read arrive whole when they are read slowly', async () => {
    const since = performance.now();
    const length = await sip(await unread(person, '/api/recording/events/large/'), 150_000);
    assert.ok(performance.now() - since > 2 * SEND_TIMEOUT_MS, 'that was not slow');
    assert.ok(length > LARGE, `${length} bytes`);
  });

  it('answers that are not read hold no more than their account’s share: what else is large gets 503, and all else its answer', async () => {
    const at = { at: patient };
    for (const socket of await Promise.all(
      [1, 2].map(() => unread(person, '/api/recording/events/large/', patient.url)),
    ))
      await once(socket, 'readable');
    const refused = await Promise.all(
      pathsOf(person).map((path) => person.request('GET', path, undefined, at)),
    );
    assert.deepEqual(
      refused.map(({ status, code }) => `${status} ${code}`),
      refused.map(() => '503 overloaded'),
    );
    assert.ok(refused.every(({ headers }) => headers.has('retry-after')));
    assert.equal((await person.request('GET', '/api/recording/sessions/', undefined, at)).status, 200);
    const other = await withEvent(LARGE);
    assert.equal((await other.request('GET', '/api/recording/events/large/', undefined, at)).status, 200);
  });

  it('lists that are not read hold no more than their account’s share', async () => {
    const at = { at: patient };
    const one = await signUp(system);
    await system.database.pool.query(
      `with rows as (
         insert into raw_memories (id, account_id, content, kind, origin, source, occurred_at, tags, metadata, created_at)
         select gen_random_uuid(), $1, repeat('x', 8000), 'note', 'human', 'test', now(), '{}', '{}', now()
           from generate_series(1, 200)
       )
       insert into replies (id, account_id, agent, agent_input, k, threshold, status, actual_response, created_at)
       select gen_random_uuid(), $1, 'coder', 'Which?', 1, 0.8, 'edited', repeat('é', 20000), now()
         from generate_series(1, 200)`,
      [one.id],
    );
    const paths = ['raw', 'episodes', 'facts'].map((tier) => `/api/memory/${tier}/?limit=200`);
    const replies = '/api/predictions/?limit=200';
    // Eight million bytes each.
    for (const socket of await Promise.all([1, 2].map(() => unread(one, replies, patient.url))))
      await once(socket, 'readable');
    const refused = await Promise.all(
      [...paths, replies].map((path) => one.request('GET', path, undefined, at)),
    );
    assert.deepEqual(
      refused.map(({ status, code }) => `${status} ${code}`),
      refused.map(() => '503 overloaded'),
    );
    assert.equal((await one.request('GET', '/api/predictions/?limit=1', undefined, at)).status, 200);
    assert.equal((await person.request('GET', replies, undefined, at)).status, 200);
  });

  it('results of a batch that are not read hold no more than their account’s share', async () => {
    const at = { at: patient };
    const one = await signUp(system);
    const id = newId();
    await system.database.pool.query(
      `with rows as (
         insert into replies (id, account_id, agent, agent_input, k, threshold, status, created_at)
         select gen_random_uuid(), $1, 'coder', 'Which?', 5, 0.8, 'escalated', now() from generate_series(1, 100)
         returning id)
       insert into history (
         id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, ended_at, expires_at, facts, report)
       select $2, 'predict_batch', $1, $2, '', 'succeeded', 1, $2, now(), now(), now(), '{}',
              json_build_object('steps', json_build_object('done', 100, 'total', 100),
                'result', json_build_object('ids', json_agg(id), 'latency_ms', 1))
         from rows`,
      [one.id, id],
    );
    // Eight million bytes, in the longest replies that a prediction has.
    await system.database.pool.query(
      `update replies set response = repeat('漢', 4000), reasoning = 'A habit.', candidates = (
         select json_agg(json_build_object('response', repeat('漢', 4000), 'confidence', 0.5, 'reasoning', 'A habit.'))
           from generate_series(1, 5))
        where account_id = $1`,
      [one.id],
    );
    const path = `/api/jobs/${id}/`;
    for (const socket of await Promise.all([1, 2].map(() => unread(one, path, patient.url))))
      await once(socket, 'readable');
    const refused = await Promise.all(
      ['GET', 'DELETE'].map((method) => one.request(method, path, undefined, at)),
    );
    for (const { status, code } of refused) assert.equal(`${status} ${code}`, '503 overloaded');
    assert.equal((await one.request('GET', '/api/predictions/?limit=1', undefined, at)).status, 200);
    for (const socket of sockets.splice(0)) socket.destroy();
    const { body } = await one.request<JobResponse>('GET', path, undefined, at);
    assert.equal((body.result as BatchResponse).succeeded, 100);
  });

  (process.platform === 'linux' ? it : it.skip)(
    'answers that are not read cost a bounded amount of memory, of whatever kind',
    async () => {
      const people = await Promise.all([1, 2, 3].map(() => withEvent(LARGE)));
      const memory = () => residentMb(patient.child.pid);
      const before = await memory();
      const asked = Promise.all(
        people.flatMap((one) =>
          pathsOf(one).flatMap((path) => [1, 2, 3, 4].map(() => unread(one, path, patient.url))),
        ),
      );
      const answered = asked.then((all) => Promise.all(all.map((socket) => once(socket, 'readable'))));
      const most = Math.max(...(await pacedUntil(10, memory, answered)), await memory());
      assert.ok(most - before < GROWTH_MB, `from ${before} to ${most} MB`);
      assert.equal((await person.request('GET', '/api/auth/me/', undefined, { at: patient })).status, 200);
    },
  );
});

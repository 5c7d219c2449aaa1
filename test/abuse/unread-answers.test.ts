import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId } from '../../shared/ids.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import type { BatchResponse } from '../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { callUntil } from '../support/paced-until.ts';
import { event, post, recording } from '../support/recording.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';
import { askUnread, sip } from '../support/unread.ts';

const LARGE_BYTES = 7_800_000;
const SEND_TIMEOUT_MS = 2000;
/** Maximum growth of memory. Unbounded, all unread answers would take over 700 MB. */
const GROWTH_MB = 350;

describe('unread answers', () => {
  // Makes both ingresses accept the same tokens, which name their issuer.
  const env = { SEND_TIMEOUT_MS: `${SEND_TIMEOUT_MS}`, PUBLIC_URL: 'http://localhost' };
  const system = useProcesses({ workers: 0, env });
  /** An ingress that cuts clients off after the default 30 s. */
  let patient: TestProcess;
  let person: UserClient;
  const sockets: Socket[] = [];
  before(async () => {
    patient = await system.startWeb({ SEND_TIMEOUT_MS: '' });
    person = await signUpWithEvent(LARGE_BYTES);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Signs up a person with an event `large` of `bytes`, in a session named by the person's id. */
  const signUpWithEvent = async (bytes: number) => {
    const one = await signUp(system);
    const filler = 'x'.repeat(bytes);
    const row = event({ id: 'large', session_id: one.id, type: 'custom.large', payload: { filler } });
    assert.equal((await post(one, [row])).status, 201);
    return one;
  };

  const askWithoutReading = async (one: UserClient, path: string, at?: string) => {
    const socket = await askUnread(one, path, at);
    sockets.push(socket);
    return socket;
  };

  const pathsOf = ({ id }: UserClient) => [
    '/api/recording/events/large/',
    `/api/recording/sessions/${id}/events/`,
    '/api/export/',
  ];

  it('a large answer that its client does not read, or reads too slowly, is cut off and makes room for another #unread-answers', async () => {
    for (const bytes of [0, 1000]) {
      const holding = await Promise.all(
        [1, 2].map(() => askWithoutReading(person, '/api/recording/events/large/')),
      );
      await Promise.all(holding.map((socket) => once(socket, 'readable')));
      const sipping = setInterval(() => {
        for (const socket of holding) if (bytes > 0) socket.read(bytes);
      }, 100);
      // A third answer fits into the account's share only after the first two are cut off.
      const { status, tookMs } = await recording.event(person, 'large');
      assert.equal(status, 200);
      assert.ok(tookMs > SEND_TIMEOUT_MS / 2, `there was room after ${tookMs} ms`);
      clearInterval(sipping);
      for (const { length } of await Promise.all(holding.map((socket) => text(socket))))
        assert.ok(length < 0.9 * LARGE_BYTES, `${length} bytes were sent`);
    }
  });

  it('a large answer arrives whole if its client keeps reading, even for more than twice SEND_TIMEOUT_MS', async () => {
    const since = performance.now();
    const length = await sip(await askWithoutReading(person, '/api/recording/events/large/'), 150_000);
    assert.ok(performance.now() - since > 2 * SEND_TIMEOUT_MS, 'the answer was not read slowly');
    assert.ok(length > LARGE_BYTES, `${length} bytes`);
  });

  it('while an account has two large unread answers, only its further large answers are 503 overloaded', async () => {
    const at = { at: patient };
    for (const socket of await Promise.all(
      [1, 2].map(() => askWithoutReading(person, '/api/recording/events/large/', patient.url)),
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
    const other = await signUpWithEvent(LARGE_BYTES);
    assert.equal((await other.request('GET', '/api/recording/events/large/', undefined, at)).status, 200);
  });

  it('while an account has two large unread lists, only its further lists with a large `limit` are 503 overloaded', async () => {
    const at = { at: patient };
    const one = await signUp(system);
    await system.sql(
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
    const tiers = ['raw', 'episodes', 'facts'].map((tier) => `/api/memory/${tier}/?limit=200`);
    const paths = [...tiers, '/api/decisions/?limit=100'];
    const replies = '/api/predictions/?limit=200';
    // Each of the two unread lists has eight million bytes.
    for (const socket of await Promise.all([1, 2].map(() => askWithoutReading(one, replies, patient.url))))
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

  it('while an account has two unread batch results, its further requests for batch results are 503 overloaded', async () => {
    const at = { at: patient };
    const one = await signUp(system);
    const id = newId();
    await system.sql(
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
    // The result has eight million bytes.
    await system.sql(
      `update replies set response = repeat('漢', 4000), reasoning = 'A habit.', candidates = (
         select json_agg(json_build_object('response', repeat('漢', 4000), 'confidence', 0.5, 'reasoning', 'A habit.'))
           from generate_series(1, 5))
        where account_id = $1`,
      [one.id],
    );
    const path = `/api/jobs/${id}/`;
    for (const socket of await Promise.all([1, 2].map(() => askWithoutReading(one, path, patient.url))))
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
    '36 unread answers of 8 MB (events, session events and exports) take less than 350 MB of memory #unread-answers',
    async () => {
      const people = await Promise.all([1, 2, 3].map(() => signUpWithEvent(LARGE_BYTES)));
      const memory = () => residentMb(patient.child.pid);
      const before = await memory();
      const asked = Promise.all(
        people.flatMap((one) =>
          pathsOf(one).flatMap((path) => [1, 2, 3, 4].map(() => askWithoutReading(one, path, patient.url))),
        ),
      );
      const answered = asked.then((all) => Promise.all(all.map((socket) => once(socket, 'readable'))));
      const most = Math.max(...(await callUntil(10, memory, answered)), await memory());
      assert.ok(most - before < GROWTH_MB, `from ${before} to ${most} MB`);
      assert.equal((await person.request('GET', '/api/auth/me/', undefined, { at: patient })).status, 200);
    },
  );
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readUnsyncedPage } from '../../shared/db/stores/memory/sync.ts';
import type { JobReceipt, JobResponse, SyncResult } from '../../shared/schemas/jobs.ts';
import type { DeletionReceipt, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { event, post } from '../support/recording.ts';
import { lockRow } from '../support/row-lock.ts';
import { type System, startSystem, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';
import { untilShed } from '../support/until-shed.ts';

const SYNC = '/api/memory/sync/';

describe('sync with workers', function () {
  this.timeout(60_000);
  const system = useSystem({
    apart: true,
    webs: 2,
    workerEntry: ['workers/main.ts', 'all'],
    env: { LEASE_MS: '3000' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
  });

  const sync = (body: object = {}, headers: Record<string, string> = {}) =>
    ann.request<SyncResult>('POST', SYNC, body, { headers });
  const start = async (body: object = {}) => {
    const reply = await ann.request<JobReceipt>('POST', SYNC, body, { headers: { prefer: 'respond-async' } });
    assert.equal(reply.status, 202, reply.text);
    return reply.body.job_id;
  };
  const job = (id: string) => ann.request<JobResponse>('GET', `/api/jobs/${id}/`);
  const untilEnded = (id: string) =>
    until(async () => {
      const { body } = await job(id);
      return body.finished_at !== null && body;
    }, 30_000);
  const rows = async () => {
    const { body } = await ann.request<{ results: RawMemoryResponse[] }>('GET', '/api/memory/raw/?limit=200');
    return body.results.toReversed();
  };
  const notes = (count: number, session_id: string = randomUUID()) =>
    Array.from({ length: count }, (_, n) =>
      event({
        session_id,
        type: 'note',
        text: `Note ${n}`,
        occurred_at: new Date(Date.UTC(2026, 4, 1) + n * 1000).toISOString(),
      }),
    );
  const storedCounts = async () => {
    const { rows } = await system.database.pool.query<{ count: number; ids: number }>(
      'select count(*)::int as count, count(distinct event_id)::int as ids from raw_memories where account_id = $1',
      [ann.id],
    );
    return rows[0];
  };

  it('a sync reads large events a few at a time, and stores them all', async () => {
    const session_id = randomUUID();
    const payload = { filler: 'x'.repeat(3_500_000) };
    for (let n = 0; n < 5; n += 1)
      assert.equal((await post(ann, [event({ session_id, type: 'custom.large', payload })])).status, 201);
    const page = await readUnsyncedPage(system.em(), ann.id, 200);
    assert.deepEqual([page?.events.length, page?.last], [2, false]);
    const { scanned, created } = (await sync()).body;
    assert.deepEqual([scanned, created], [5, 5]);
    assert.equal((await sync()).body.scanned, 0);
    const again = (await sync({ session_id })).body;
    assert.deepEqual([again.scanned, again.created], [5, 0]);
  });

  it("a sync stores one raw row for each event with content, with the role of the event's speaker", async () => {
    const session_id = randomUUID();
    const at = (second: number) => ({ session_id, occurred_at: `2026-05-01T12:00:0${second}Z` });
    const prompt = event({ ...at(1), prompt: 'Shall I deploy?' });
    const reply = { type: 'user.reply', agent: 'coder', reply: 'Not on Fridays', in_reply_to: prompt.id };
    await post(ann, [
      event({ ...at(0), type: 'session.started' }),
      prompt,
      event({ ...at(2), ...reply }),
      event({ ...at(3), type: 'agent.message', agent: 'coder', text: 'Understood' }),
      event({ ...at(4), type: 'user.message', text: 'Good' }),
      event({ ...at(5), type: 'note', text: 'Fridays are sacred' }),
      event({ ...at(6), type: 'custom.build', payload: { ok: true } }),
      event({ ...at(7), type: 'note', text: '  ' }),
      event({ ...at(8), type: 'user.message', text: 'Predicted', origin: 'accepted_prediction' }),
    ]);
    const { status, body } = await sync();
    assert.equal(status, 200);
    assert.deepEqual(body, {
      scanned: 9,
      created: 7,
      skipped: 2,
      last_event_at: '2026-05-01T12:00:08.000Z',
    });
    const seen = (await rows()).map(({ kind, role, origin, agent, content }) => [
      kind,
      role,
      origin,
      agent,
      content,
    ]);
    assert.deepEqual(seen, [
      ['prompt', 'agent', 'agent', 'coder', 'Shall I deploy?'],
      ['reply', 'human', 'human', 'coder', 'Not on Fridays'],
      ['message', 'agent', 'agent', 'coder', 'Understood'],
      ['message', 'human', 'human', null, 'Good'],
      ['note', 'human', 'human', null, 'Fridays are sacred'],
      ['other', null, 'unknown', null, '{"ok":true}'],
      ['message', 'human', 'accepted_prediction', null, 'Predicted'],
    ]);
    const [first, second] = await rows();
    assert.deepEqual([first?.event_id, first?.session_id, first?.source], [prompt.id, session_id, 'test']);
    assert.deepEqual(second?.metadata, { in_reply_to: prompt.id });
  });

  it('a sync scans only events that arrived after the last sync, whatever their time', async () => {
    const session_id = randomUUID();
    await post(ann, notes(3, session_id));
    assert.equal((await sync()).body.created, 3);
    assert.deepEqual((await sync()).body, { scanned: 0, created: 0, skipped: 0, last_event_at: null });
    await post(ann, [event({ session_id, type: 'note', text: 'late', occurred_at: '2026-04-01T00:00:00Z' })]);
    assert.deepEqual((await sync()).body, {
      scanned: 1,
      created: 1,
      skipped: 0,
      last_event_at: '2026-04-01T00:00:00.000Z',
    });
  });

  it('a sync never recreates a raw row that was deleted', async () => {
    const batch = notes(2);
    await post(ann, batch);
    await sync();
    const [first] = await rows();
    assert.equal((await ann.request('DELETE', `/api/memory/raw/${first?.id}/`)).status, 200);
    assert.equal((await sync({ since: '2000-01-01T00:00:00Z' })).body.created, 0);
    assert.deepEqual(
      (await rows()).map(({ content }) => content),
      ['Note 1'],
    );
  });

  it('deleting a raw row with its event frees the quota that the event used', async () => {
    await post(ann, notes(2));
    await sync();
    const [first] = await rows();
    const { body } = await ann.request<DeletionReceipt>(
      'DELETE',
      `/api/memory/raw/${first?.id}/?purge_event=true`,
    );
    assert.equal(body.event_deleted, true);
    const { rows: counts } = await system.database.pool.query(
      `select events::int, bytes::int from account_usage where account_id = $1
        union all
       select count(*)::int, sum(octet_length(body))::int from recording_events where account_id = $1`,
      [ann.id],
    );
    assert.equal(counts[0].events, 1);
    assert.deepEqual(counts[0], counts[1]);
  });

  it('a sync limited to a session or to a start time reads events again without duplicating rows', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await post(ann, [...notes(3, one), ...notes(2, other)]);
    assert.deepEqual(await counts({ session_id: one }), [3, 3]);
    assert.deepEqual(await counts({ since: '2026-05-01T00:00:01Z' }), [3, 1]);
    assert.deepEqual(await counts({ session_id: 'of nobody' }), [0, 0]);
    assert.deepEqual(await counts({}), [5, 1]);
  });

  const counts = async (body: object) => {
    const { scanned, created } = (await sync(body)).body;
    return [scanned, created];
  };

  it('a sync stops after `limit` events, and the next sync continues with the event after them', async () => {
    await post(ann, notes(5));
    assert.deepEqual(await counts({ limit: 2 }), [2, 2]);
    assert.deepEqual(await counts({ limit: 2 }), [2, 2]);
    assert.deepEqual(await counts({}), [1, 1]);
  });

  it('a sync keeps the beginning and the end of a text that is too long for a row', async () => {
    await post(ann, [event({ type: 'note', text: `begin ${'😀'.repeat(9000)} end` })]);
    assert.equal((await sync()).body.created, 1);
    const [row] = await rows();
    assert.equal([...(row?.content ?? '')].length, 8000);
    assert.match(row?.content ?? '', /^begin .* end$/su);
  });

  it('concurrent syncs of an account all succeed, and together store each event once', async () => {
    await post(ann, notes(500));
    const replies = await Promise.all(Array.from({ length: 8 }, () => sync()));
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    assert.equal(
      replies.reduce((sum, { body }) => sum + body.created, 0),
      500,
    );
    assert.deepEqual(await storedCounts(), { count: 500, ids: 500 });
  });

  it('a sync whose worker is killed is finished by another worker, and stores each event once', async () => {
    await post(ann, notes(450));
    const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
    const id = await start();
    await until(async () => (await job(id)).body.state === 'running');
    const [victim] = system.workers.splice(0, 1);
    await victim?.kill();
    await lock.release();
    await system.startWorker();
    const { state, result, progress } = await untilEnded(id);
    assert.equal(state, 'succeeded');
    assert.equal((result as SyncResult).scanned, 450);
    assert.deepEqual(progress, { done: 1, total: 1 });
    assert.deepEqual(await storedCounts(), { count: 450, ids: 450 });
  });

  describe('sync as a job', () => {
    it('a sync with `Prefer: respond-async` is 202, and its job reports the result', async () => {
      await post(ann, notes(3));
      const id = await start();
      const { kind, state, result, error, progress } = await untilEnded(id);
      assert.deepEqual([kind, state, error, progress], ['sync', 'succeeded', null, { done: 1, total: 1 }]);
      assert.equal((result as SyncResult).created, 3);
    });

    it('deleting the job of a sync cancels it: a waiting caller gets 499, and the next sync stores the events', async () => {
      await post(ann, notes(3));
      const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
      const key = randomUUID();
      const waiting = sync({}, { 'idempotency-key': key });
      const reply = await until(async () => {
        const other = await ann.request<JobReceipt>(
          'POST',
          SYNC,
          {},
          {
            headers: { 'idempotency-key': key, prefer: 'respond-async, wait' },
          },
        );
        return other.status === 202 && other;
      });
      assert.equal(reply.headers.get('idempotency-replayed'), 'true');
      const path = `/api/jobs/${reply.body.job_id}/`;
      const { status, body } = await ann.request<JobResponse>('DELETE', path);
      assert.deepEqual([status, body.state, body.error?.code], [200, 'cancelled', 'job_cancelled']);
      assert.equal((await waiting).code, 'job_cancelled');
      assert.equal((await waiting).status, 499);
      await lock.release();
      assert.deepEqual((await ann.request<JobResponse>('DELETE', path)).body, body);
      assert.equal((await sync()).body.created, 3);
    });

    it('a sync runs once for each Idempotency-Key of an account', async () => {
      const headers = { 'idempotency-key': "Ann's first sync" };
      await post(ann, notes(2));
      const first = await sync({}, headers);
      assert.equal(first.headers.get('idempotency-replayed'), null);
      const again = await sync({}, headers);
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal((await sync({ limit: 7 }, headers)).code, 'idempotency_conflict');
      const long = await sync({}, { 'idempotency-key': 'k'.repeat(201) });
      assert.deepEqual([long.status, long.code], [400, 'invalid_request']);
      assert.equal((await sync({}, { 'idempotency-key': 'k'.repeat(200) })).status, 200);
      const bob = await signUp(system);
      const others = await bob.request<SyncResult>('POST', SYNC, {}, { headers });
      assert.equal(others.headers.get('idempotency-replayed'), null);
    });

    it('a repeat of a cancelled sync request is 499, even if it asks for a job or an event stream', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      await post(ann, notes(1));
      const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
      const begun = await ann.request<JobReceipt>(
        'POST',
        SYNC,
        {},
        { headers: { ...headers, prefer: 'respond-async' } },
      );
      assert.equal(begun.status, 202);
      await ann.request('DELETE', `/api/jobs/${begun.body.job_id}/`);
      await lock.release();
      const otherwise: Record<string, string>[] = [
        {},
        { prefer: 'respond-async' },
        { accept: 'text/event-stream' },
      ];
      for (const more of otherwise) {
        const again = await sync({}, { ...headers, ...more });
        assert.deepEqual([again.status, again.code], [499, 'job_cancelled']);
      }
    });

    it('a repeated sync request is 409 while the sync runs, unless it has `Prefer: wait`', async () => {
      await post(ann, notes(1));
      const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
      const headers = { 'idempotency-key': randomUUID() };
      const first = sync({}, headers);
      const refused = await until(async () => {
        const again = await sync({}, headers);
        return again.status === 409 && again;
      });
      assert.equal(refused.code, 'request_in_flight');
      const attached = sync({}, { ...headers, prefer: 'wait' });
      await lock.release();
      assert.equal((await attached).text, (await first).text);
    });

    it('a sync with `Accept: text/event-stream` ends its stream with a `done` event that has the result', async () => {
      await post(ann, notes(3));
      const { status, text, headers } = await sync({}, { accept: 'text/event-stream' });
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^text\/event-stream;/);
      const events = text.trimEnd().split('\n\n');
      assert.ok(
        events.slice(1, -1).every((one) => one.startsWith('event: progress\n')),
        text,
      );
      const [, data = ''] = events.at(-1)?.match(/^event: done\ndata: (.*)$/) ?? [];
      assert.equal(JSON.parse(data).created, 3);
    });
  });

  it('a sync with an invalid `since`, `limit` or `session_id`, or an unknown field, is 422', async () => {
    for (const body of [
      { since: 'yesterday' },
      { since: '1999-12-31T23:59:59Z' },
      { limit: 0 },
      { limit: 100_001 },
      { session_id: '' },
      { unknown: 1 },
    ])
      assert.equal((await sync(body)).status, 422, JSON.stringify(body));
  });
});

describe('sync deadlines', () => {
  let system: System;
  let ann: UserClient;
  const env = { SYNC_TIMEOUT_MS: '1000', RECOVERY_WINDOW_S: '1' };
  const sync = (headers: Record<string, string> = {}) =>
    ann.request<SyncResult>('POST', SYNC, {}, { headers });

  describe('without a memory worker', () => {
    before(async () => {
      system = await startSystem({ env });
      ann = await signUp(system);
    });
    after(() => system.stop());

    it('a sync without a worker is 504 job_timeout at first, and soon 503 overloaded', () =>
      untilShed(sync, 'job_timeout'));
  });

  describe('with a memory worker', () => {
    before(async () => {
      system = await startSystem({ env, workerEntry: ['workers/main.ts', 'memory'] });
    });
    beforeEach(async () => {
      ann = await signUp(system);
    });
    after(() => system.stop());

    it('a sync is 504 job_timeout at its deadline, and the next sync stores the remaining events', async () => {
      await post(ann, [event()]);
      const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
      const { status, code } = await sync();
      assert.deepEqual([status, code], [504, 'job_timeout']);
      await lock.release();
      assert.equal((await sync()).body.created, 1);
    });

    it('a repeated sync request is 410 after the recovery window, but the rows that the sync stored remain', async () => {
      await post(ann, [event()]);
      const headers = { 'idempotency-key': 'k' };
      assert.equal((await sync(headers)).body.created, 1);
      const late = await until(async () => {
        const again = await sync(headers);
        return again.status === 410 && again;
      });
      assert.equal(late.code, 'recovery_window_expired');
      const { body } = await ann.request<{ results: object[] }>('GET', '/api/memory/raw/');
      assert.equal(body.results.length, 1);
    });
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readUnsyncedPage } from '../../shared/db/stores/memory/sync.ts';
import type { JobReceipt, JobResponse, SyncResult } from '../../shared/schemas/jobs.ts';
import type { DeletionReceipt, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { pluck } from '../support/pluck.ts';
import { event, post } from '../support/recording.ts';
import { lockRow } from '../support/row-lock.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SYNC = '/api/memory/sync/';

describe('sync with workers', () => {
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
    ann.post<SyncResult>(SYNC, body, { headers });
  const start = async (body: object = {}) => {
    const reply = await ann.post<JobReceipt>(SYNC, body, { headers: { prefer: 'respond-async' } });
    assert.equal(reply.status, 202, reply.text);
    return reply.body.job_id;
  };
  const job = (id: string) => ann.get<JobResponse>(`/api/jobs/${id}/`);
  const untilEnded = (id: string) =>
    until(async () => {
      const { body } = await job(id);
      return body.finished_at !== null && body;
    }, 30_000);
  const rows = async () => {
    const { body } = await ann.get<{ results: RawMemoryResponse[] }>('/api/memory/raw/?limit=200');
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
    const rows = await system.sql<{ count: number; ids: number }>(
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

  it('a sync never recreates a raw row that was deleted #sync-once', async () => {
    const batch = notes(2);
    await post(ann, batch);
    await sync();
    const [first] = await rows();
    assert.equal((await ann.request('DELETE', `/api/memory/raw/${first?.id}/`)).status, 200);
    assert.equal((await sync({ since: '2000-01-01T00:00:00Z' })).body.created, 0);
    assert.deepEqual(pluck(await rows(), 'content'), ['Note 1']);
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
    const [counted, stored] = await system.sql(
      `select events::int, bytes::int from account_usage where account_id = $1
        union all
       select count(*)::int, sum(octet_length(body))::int from recording_events where account_id = $1`,
      [ann.id],
    );
    assert.equal(counted?.['events'], 1);
    assert.deepEqual(counted, stored);
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

  it('concurrent syncs of an account all succeed, and together store each event once #sync-once', async () => {
    await post(ann, notes(500));
    const replies = await Promise.all(Array.from({ length: 8 }, () => sync()));
    assert.deepEqual([...new Set(pluck(replies, 'status'))], [200]);
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

  it('a POST without a body is one of `{}` where every field is optional, and 400 elsewhere', async () => {
    for (const [path, headers] of [
      [SYNC, {}],
      [SYNC, { 'content-type': 'application/json' }],
      ['/api/memory/promote/episodes/', {}],
      ['/api/memory/promote/facts/', {}],
      ['/api/memory/context/', {}],
    ] as const) {
      const { status, text } = await ann.request('POST', path, undefined, { headers });
      assert.equal(status, 200, `${path} ${text}`);
    }
    assert.equal((await ann.request('POST', '/api/memory/facts/')).status, 400);
  });

  it('a sync takes a date for `since`, and times whose zone has no colon', async () => {
    const early = event({ type: 'note', text: 'Early', occurred_at: '2026-05-01T01:30:00+0200' });
    await post(ann, [early, ...notes(2)]);
    assert.equal((await sync({ since: '2026-05-01' })).body.scanned, 2);
    assert.equal((await sync({ since: '2026-05-01T01:30:00+0200' })).body.scanned, 3);
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

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { workerConfig } from '../../shared/config/config.ts';
import { createLog } from '../../shared/log.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import { openQueues } from '../../shared/queue/queues.ts';
import type { JobReceipt, JobResponse, SyncResult } from '../../shared/schemas/jobs.ts';
import { kinds as knownKinds } from '../../shared/work/kinds.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { addFailedSyncs, addIdleWorker } from '../support/failed-syncs.ts';
import { pluck } from '../support/pluck.ts';
import { event, post } from '../support/recording.ts';
import { lockAdmissions, lockRow } from '../support/row-lock.ts';
import { type System, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SYNC = '/api/memory/sync/';

interface QueueListing {
  pools: { pool: string; state: string; workers: number }[];
  kinds: { kind: string; pool: string; waiting: number; running: number; failed_24h: number }[];
  recurring: { recurring: string; every: string; last: string | null; next: string | null }[];
}

async function retrySyncs({ env }: System) {
  const { code, stdout } = await runAdmin(['queue', 'retry-failed', 'memory', '--json'], env);
  return { code, ...JSON.parse(stdout) };
}

describe('queue commands', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { PROMOTE_EVERY: '0 0 1 1 *', PREDICTION_TIMEOUT_MS: '3000' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
  });
  afterEach(() => queue('resume'));

  const queue = (...args: string[]) => adminResult(['queue', ...args], system.env);
  const list = (): Promise<QueueListing> => queue('list');
  const kind = async (name: string) => (await list()).kinds.find((one) => one.kind === name);
  const note = () => event({ session_id: randomUUID(), type: 'note', text: 'Fridays are sacred' });
  const start = async () => {
    const headers = { prefer: 'respond-async' };
    const { body } = await ann.post<JobReceipt>(SYNC, {}, { headers });
    return body.job_id;
  };
  const job = async (id: string) => (await ann.get<JobResponse>(`/api/jobs/${id}/`)).body;

  it('`queue list` shows pools, kinds of work in their declared order, recurring work and housekeeping tasks', async () => {
    const { pools, kinds, recurring } = await until(async () => {
      const listed = await list();
      const ended = listed.recurring.filter(({ last }) => last !== null).map((one) => one.recurring);
      return ended.includes('housekeeping: end work') && listed;
    }, 30_000);
    assert.deepEqual(
      pools.map(({ pool, state, workers }) => [pool, state, workers]),
      [
        ['predict', 'open', 1],
        ['batch', 'open', 1],
        ['memory', 'open', 1],
      ],
    );
    assert.deepEqual(
      kinds.filter(({ kind: name }) => name === 'sync'),
      [{ kind: 'sync', pool: 'memory', waiting: 0, running: 0, oldest_s: null, failed_24h: 0 }],
    );
    assert.deepEqual(
      kinds.map(({ kind: name }) => name),
      Object.values(knownKinds).map(({ name }) => name),
    );
    const named = new Map(recurring.map((one) => [one.recurring, one]));
    assert.deepEqual(named.get('sync'), { recurring: 'sync', every: 'off', last: null, next: null });
    const promotion = named.get('promotion');
    assert.deepEqual([promotion?.every, promotion?.last], ['0 0 1 1 *', null]);
    assert.match(promotion?.next ?? '', /-01-01T00:00:00\.000Z$/);
    const repair = named.get('housekeeping: end work');
    assert.equal(repair?.every, '2 s');
    assert.ok(Date.now() - Date.parse(repair.last ?? '') < 30_000);
    const { stdout } = await runAdmin(['queue', 'list'], system.env);
    assert.match(stdout, /^promotion +0 0 1 1 \* +none +\S+-01-01T00:00:00\.000Z$/m);
  });

  it('after `queue pause predict`, predictions get 504 at their deadline, and other pools continue #paused-pool', async () => {
    const app = await system.app();
    assert.deepEqual(await queue('pause', 'predict'), { paused: ['predict'], unaware_workers: 0 });
    const { status, code } = await app.predict(predictionBody());
    assert.deepEqual([status, code], [504, 'prediction_timeout']);
    assert.equal((await ann.post(SYNC, {})).status, 200);
    assert.equal((await list()).pools.find(({ pool }) => pool === 'predict')?.state, 'paused');
    assert.deepEqual(await queue('resume', 'predict'), { resumed: ['predict'] });
    await until(async () => (await app.predict(predictionBody())).status === 200);
  });

  it('`queue resume` lets a paused pool perform the work that was queued during the pause #paused-pool', async () => {
    const app = await system.app();
    await post(ann, [note()]);
    await queue('pause');
    const id = await start();
    // Without the pause, a worker would have claimed the job by now.
    assert.equal((await app.predict(predictionBody())).status, 504);
    assert.equal((await job(id)).state, 'queued');
    assert.equal((await kind('sync'))?.waiting, 1);
    await queue('resume');
    const { result } = await until(async () => {
      const read = await job(id);
      return read.state === 'succeeded' && read;
    });
    assert.equal((result as SyncResult).created, 1);
  });

  it("`queue drain` ends a pool's waiting jobs as failed, and `queue retry-failed` queues each of them again only once", async () => {
    await post(ann, [note()]);
    const app = await system.app();
    await queue('pause');
    const [id, predicted] = await Promise.all([start(), app.predict(predictionBody())]);
    assert.equal(predicted.status, 504);
    assert.deepEqual(await queue('drain', 'memory'), { pool: 'memory', ended: 1, locked: 0 });
    const { state, error } = await job(id);
    assert.deepEqual([state, error?.code], ['failed', 'service_unavailable']);
    assert.equal((await kind('sync'))?.failed_24h, 1);
    const again = { sync: 1, promote_episodes: 0, promote_facts: 0 };
    const { retried, left } = await queue('retry-failed');
    assert.deepEqual(retried, again);
    assert.ok(left.predict >= 1);
    assert.deepEqual((await queue('retry-failed', 'memory')).retried, { ...again, sync: 0 });
    await queue('resume');
    await until(async () => {
      const { body } = await ann.get<{ results: object[] }>('/api/memory/raw/');
      return body.results.length === 1;
    });
    assert.deepEqual((await queue('retry-failed', 'memory')).retried, { ...again, sync: 0 });
  });

  it('`queue retry-failed` skips a locked account, which a later call retries', async () => {
    const people = 50;
    const parties = await addFailedSyncs(system, people);
    const lock = await lockAdmissions(system, parties[3] ?? '');
    const first = await runAdmin(['queue', 'retry-failed', 'memory', '--json'], system.env);
    assert.equal(first.code, 1);
    assert.match(
      first.stderr,
      /^(So far, sync: \d\d queued again, 1 skipped because of a lock: try again later\n){2}$/,
    );
    const { retried, locked: skipped } = JSON.parse(first.stdout);
    assert.deepEqual([retried.sync, skipped.sync], [people - 1, 1]);
    await lock.release();
    const second = await retrySyncs(system);
    assert.deepEqual([second.code, second.retried.sync, second.locked.sync], [0, 1, 0]);
  });

  it('`queue retry-failed` stops when a paused pool is full, and a call after `queue resume` queues the other jobs', async () => {
    await until(async () => (await kind('sync'))?.waiting === 0);
    await queue('pause', 'memory');
    await addFailedSyncs(system, 50);
    const { code, retried, stopped } = await retrySyncs(system);
    assert.deepEqual([code, stopped], [1, { sync: 'paused' }]);
    assert.ok(retried.sync >= 20 && retried.sync < 40, `${retried.sync} queued`);
    await queue('resume', 'memory');
    assert.equal((await retrySyncs(system)).retried.sync, 50 - retried.sync);
  });

  it('`queue drain` skips locked work, which a later call ends', async () => {
    await queue('pause', 'memory');
    await queue('drain', 'memory');
    const people = await Promise.all([1, 2, 3].map(() => signUp(system)));
    const jobs = await Promise.all(
      people.map((person) => person.post('/api/memory/sync/', {}, { headers: { prefer: 'respond-async' } })),
    );
    assert.deepEqual(pluck(jobs, 'status'), [202, 202, 202]);
    const [first = ''] = pluck(people, 'id').sort();
    const lock = await lockRow(system, 'work', 'party = $1', [first]);
    const { code, stdout } = await runAdmin(['queue', 'drain', 'memory', '--json'], system.env);
    const { ended, locked: skipped } = JSON.parse(stdout);
    assert.deepEqual([code, ended, skipped], [1, 2, 1]);
    await lock.release();
    assert.deepEqual(await queue('drain', 'memory'), { pool: 'memory', ended: 1, locked: 0 });
    await queue('resume');
  });

  it('`queue pause` refuses an unknown pool, and `queue drain` requires a pool', async () => {
    const refusals = await Promise.all([
      runAdmin(['queue', 'pause', 'lane'], system.env),
      runAdmin(['queue', 'drain'], system.env),
    ]);
    assert.deepEqual(
      refusals.map(({ code, stderr }) => [code, stderr]),
      [
        [1, 'POOL must be one of predict, batch, memory, not "lane"\n'],
        [1, 'POOL is missing\n'],
      ],
    );
  });
});

describe('retry of failed jobs where no worker takes work', () => {
  const system = useSystem({ workers: 0 });
  const people = 50;
  before(() => addFailedSyncs(system, people));

  it('`queue retry-failed` queues nothing in a pool without a worker, and says so', async () => {
    const { code, stdout } = await runAdmin(['queue', 'retry-failed', 'memory'], system.env);
    assert.equal(code, 1);
    assert.match(stdout, /^sync: 0 queued again\. Stopped, because no worker serves the pool: start one/);
  });

  it('`queue retry-failed` names each account in a BullMQ job, waits while the pool is full, and queues more as others end', async () => {
    await using opened = new AsyncDisposableStack();
    const config = workerConfig({ DATABASE_URL: system.database.url, ...system.queue.env });
    const queues = opened.adopt(await openQueues(config, createLog('test', 'silent')), closePart);
    const added = new Set<string>();
    queues.worker('memory', async ({ kind, work }) => {
      for (const { party, ids } of work) if (kind === 'sync' && ids.length === 1) added.add(party);
    });
    await addIdleWorker(system);
    const retry = retrySyncs(system);
    let [ended, seen] = [0, 0];
    while (ended < people) {
      // Two equal counts in succession show that the command waits.
      const waiting = await until(async () => {
        const { kinds }: QueueListing = await adminResult(['queue', 'list'], system.env);
        const before = seen;
        seen = kinds.find(({ kind }) => kind === 'sync')?.waiting ?? 0;
        return seen > 0 && seen === before && seen;
      });
      assert.ok(waiting < 40, `${waiting} wait`);
      ended += (await adminResult(['queue', 'drain', 'memory'], system.env)).ended;
    }
    const { code, retried, stopped } = await retry;
    assert.deepEqual([code, retried.sync, stopped], [0, people, {}]);
    await until(() => added.size === people);
  });
});

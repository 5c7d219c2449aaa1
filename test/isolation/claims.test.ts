import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { type ClaimTerms, claim, type FlowRequest, queuedFlows } from '../../shared/db/stores/work/claim.ts';
import { complete } from '../../shared/db/stores/work/complete.ts';
import { newId } from '../../shared/ids.ts';
import { blocksOf } from '../support/blocks.ts';
import {
  type AppAndWorker,
  claimTerms,
  insertAppAndWorker,
  queueWork,
  suggestedCompletion,
  WINDOW_S,
} from '../support/common-path.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const askOf = ({ appId }: AppAndWorker, count: number): FlowRequest => ({
  kind: 'predict',
  party: appId,
  count,
  sinceMs: null,
});
const partiesOf = (flows: readonly { party: string }[]) => flows.map(({ party }) => party);
const idsOf = (apps: readonly AppAndWorker[]) => apps.map(({ appId }) => appId);

describe('claim', () => {
  let database: TestDatabase;
  let worker: string;
  beforeEach(async () => {
    database = await createDatabase();
    worker = (await insertAppAndWorker(database.pool)).processId;
  });
  afterEach(() => database.drop());

  const claimWith = (asks: readonly FlowRequest[], more: Partial<ClaimTerms> = {}) =>
    claim(database.pool, { ...claimTerms(worker, asks), ...more });

  /** Queues work of one party behind all other work, without an admission. */
  const queueRows = (count: number, party = worker) =>
    database.pool.query(
      `insert into work (
         id, kind, party, key, queued_at, attempt, admission, fingerprint, supersedable, waiters, cancel_on_disconnect,
         admitted_at, deadline_at, facts, input)
       select gen_random_uuid(), 'predict', $2, gen_random_uuid(), clock_timestamp(), 1, gen_random_uuid(), '', false,
              '{}', false, now(), clock_timestamp() + interval '1 minute', '{}', ''
         from generate_series(1, $1::int)`,
      [count, party],
    );

  const queueApps = async (...counts: number[]) => {
    const apps: AppAndWorker[] = [];
    for (const count of counts) {
      const app = await insertAppAndWorker(database.pool);
      await queueWork(database.pool, app, count);
      apps.push(app);
    }
    return apps as [AppAndWorker, AppAndWorker, AppAndWorker];
  };

  it("a claim waits neither for a request that another worker is claiming, nor for its app's locked usage #locked-rows", async () => {
    const [app, other] = await queueApps(2, 1, 0);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from work where party = $1 order by queued_at limit 1 for update', [
        app.appId,
      ]);
      await holder.query('select from usage where app_id = $1 for update', [app.appId]);
      const { claims, left } = await claimWith([askOf(app, 2), askOf(other, 1)]);
      assert.deepEqual(partiesOf(claims).sort(), idsOf([app, other]).sort());
      assert.deepEqual(partiesOf(left), [app.appId]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  it('a look at the queue names an app in the middle of a long backlog, and reads no more blocks as the backlog grows #fair-shares', async () => {
    const { pool } = database;
    const app = newId();
    const read = () => blocksOf(database, `select * from queued_flows_v1('{predict}')`);
    await queueRows(1000);
    await queueRows(1, app);
    await queueRows(1000);
    const before = await read();
    assert.ok(partiesOf(await queuedFlows(pool, ['predict'])).includes(app));
    await queueRows(4000);
    const after = await read();
    assert.ok(after <= before + 20, `${before} blocks before, ${after} after`);
  });

  it('an answer whose transaction began before the deadline is not stored after it #deadline', async () => {
    const [app] = await queueApps(1, 0, 0);
    const { claims } = await claimWith([askOf(app, 1)]);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query(`update work set deadline_at = now() + interval '50 ms'`);
      await client.query('select pg_sleep(0.1)');
      const single = client as unknown as Pool;
      assert.deepEqual(await complete(single, claims.map(suggestedCompletion), WINDOW_S), [false]);
    } finally {
      client.release(true);
    }
  });

  it('a worker claims no further request once the inputs of the claimed requests exceed 256 KiB', async () => {
    const apps = await queueApps(1, 1, 1);
    await database.pool.query(`update work set input = repeat('x', 200000)`);
    const { claims, left } = await claimWith(apps.map((app) => askOf(app, 1)));
    const [first, second, third] = idsOf(apps);
    assert.deepEqual(partiesOf(claims).sort(), [first, second].sort());
    assert.deepEqual(partiesOf(left), [third]);
  });
});

import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import {
  type Claim,
  type ClaimTerms,
  claim,
  type FlowRequest,
  queuedFlows,
} from '../../shared/db/stores/work/claim.ts';
import { complete, completeAndClaim } from '../../shared/db/stores/work/complete.ts';
import { newId } from '../../shared/ids.ts';
import {
  type AppAndWorker,
  claimTerms,
  insertAppAndWorker,
  queueWork,
  suggestedCompletion,
  WINDOW_S,
} from '../support/common-path.ts';
import { createDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const SLOTS = 8;

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

  const queueApps = async (...counts: number[]) => {
    const apps: AppAndWorker[] = [];
    for (const count of counts) {
      const app = await insertAppAndWorker(database.pool);
      await queueWork(database.pool, app, count);
      apps.push(app);
    }
    return apps as [AppAndWorker, AppAndWorker, AppAndWorker];
  };

  it('a claim takes at most the given number of requests per app, oldest first, and reports the apps with more work', async () => {
    const [many, few, none] = await queueApps(5, 1, 0);
    const { claims, left } = await claimWith([many, few, none].map((app) => askOf(app, 3)));
    assert.deepEqual(partiesOf(claims).sort(), idsOf([many, many, many, few]).sort());
    assert.deepEqual(partiesOf(left), [many.appId]);
    const rest = await claimWith([askOf(many, 3)]);
    assert.deepEqual(rest.left, []);
    const newest = Math.max(
      ...claims.filter(({ party }) => party === many.appId).map((one) => one.queuedAtMs),
    );
    assert.ok(rest.claims.length === 2 && rest.claims.every((one) => one.queuedAtMs >= newest));
  });

  it('a claim takes no more requests than it has slots, and serves the apps in the given order', async () => {
    const apps = await queueApps(2, 2, 2);
    const { claims, left } = await claimWith(
      apps.map((app) => askOf(app, 2)),
      { slots: 3 },
    );
    const [first, second, third] = idsOf(apps);
    assert.deepEqual(partiesOf(claims).sort(), [first, first, second].sort());
    assert.deepEqual(partiesOf(left), [second, third]);
  });

  it('a claim skips a request that another worker is claiming, and reports that its app has more work', async () => {
    const [app] = await queueApps(2);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from work where party = $1 order by queued_at limit 1 for update', [
        app.appId,
      ]);
      const { claims, left } = await claimWith([askOf(app, 2)]);
      assert.deepEqual([claims.length, partiesOf(left)], [1, [app.appId]]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  it('a claim neither takes nor reports work that is past its deadline or whose callers have left', async () => {
    const [overdue, left] = await queueApps(1, 1);
    const alter = (assignment: string, { appId }: AppAndWorker) =>
      database.pool.query(`update work set ${assignment} where party = $1`, [appId]);
    await alter('deadline_at = now()', overdue);
    await alter('detached_at = now()', left);
    const asks = [askOf(overdue, 1), askOf(left, 1)];
    assert.deepEqual(await claimWith(asks), { claims: [], left: [] });
    await alter("detached_at = 'infinity'", left);
    assert.equal((await claimWith(asks)).claims.length, 1, 'work that outlives its callers is claimed');
  });

  it("a claim of a one-at-a-time kind takes an app's next request only after the running one has ended", async () => {
    const [app] = await queueApps(3);
    const inTurn = { oneAtATime: ['predict'] };
    const first = await claimWith([askOf(app, 3)], inTurn);
    assert.deepEqual([first.claims.length, first.left], [1, []]);
    assert.deepEqual(await claimWith([askOf(app, 3)], inTurn), { claims: [], left: [] });
    await complete(database.pool, first.claims.map(suggestedCompletion), WINDOW_S);
    assert.equal((await claimWith([askOf(app, 3)], inTurn)).claims.length, 1);
  });

  it('a worker claims no further request once the inputs of the claimed requests exceed 256 KiB', async () => {
    const apps = await queueApps(1, 1, 1);
    await database.pool.query(`update work set input = repeat('x', 200000)`);
    const { claims, left } = await claimWith(apps.map((app) => askOf(app, 1)));
    const [first, second, third] = idsOf(apps);
    assert.deepEqual(partiesOf(claims).sort(), [first, second].sort());
    assert.deepEqual(partiesOf(left), [third]);
  });

  it('the search for queued work finds the apps with the oldest and the newest queued requests of the given kinds', async () => {
    const apps = await queueApps(3, 1, 0);
    const [first, second] = idsOf(apps);
    const found = await queuedFlows(database.pool, ['predict', 'reply']);
    assert.deepEqual(partiesOf(found).sort(), [first, second].sort());
    // The search reads a bounded number of pieces at each end of the queue, and misses the `hidden` ones in the middle.
    const hidden = newId();
    await database.pool.query(
      `insert into work (
         id, kind, party, key, queued_at, attempt, admission, fingerprint, supersedable, waiters, cancel_on_disconnect,
         admitted_at, deadline_at, facts, input)
       select gen_random_uuid(), 'predict', case when n between 1001 and 1010 then $1::uuid else $2 end,
              gen_random_uuid(), now(), 1, gen_random_uuid(), '', false, '{}', false, now(),
              now() + make_interval(mins => n), '{}', ''
         from generate_series(1, 2010) n`,
      [hidden, first],
    );
    assert.ok(!partiesOf(await queuedFlows(database.pool, ['predict'])).includes(hidden));
    await database.pool.query('delete from work where party <> $1', [hidden]);
    assert.deepEqual(partiesOf(await queuedFlows(database.pool, ['predict'])), [hidden]);
    assert.deepEqual(await queuedFlows(database.pool, ['reply']), []);
  });
});

describe('claim when work ends', () => {
  let database: TestDatabase;
  /** An app with running and queued work. */
  let served: AppAndWorker;
  let running: Claim[];
  beforeEach(async () => {
    database = await createDatabase();
    served = await insertAppAndWorker(database.pool);
    await queueWork(database.pool, served, 3);
    running = (await claim(database.pool, termsOf(2))).claims;
    assert.equal(running.length, 2);
  });
  afterEach(() => database.drop());

  const termsOf = (count: number) => claimTerms(served.processId, [askOf(served, count)]);
  const endAndClaim = (pool: Pool) =>
    completeAndClaim(pool, running.map(suggestedCompletion), WINDOW_S, termsOf(SLOTS));

  it('a complete-and-claim statement ends work and claims queued work', async () => {
    const { ended, claimed } = await endAndClaim(database.pool);
    assert.deepEqual(ended, [true, true]);
    assert.equal(claimed.claims.length, 1);
    assert.equal(claimed.claims[0]?.party, served.appId);
    assert.deepEqual(claimed.left, []);
  });

  it("a complete-and-claim statement of a one-at-a-time kind claims the app's next request as it ends the running ones", async () => {
    const one = { ...termsOf(1), oneAtATime: ['predict'] };
    assert.deepEqual((await claim(database.pool, one)).claims, []);
    const { claimed } = await completeAndClaim(
      database.pool,
      running.map(suggestedCompletion),
      WINDOW_S,
      one,
    );
    assert.equal(claimed.claims.length, 1);
  });

  it('a complete-and-claim statement keeps synchronous_commit, which a claim alone turns off', async () => {
    const single = openPool(database.url, 1);
    const settingAfter = async (work: () => Promise<unknown>) => {
      await single.query('begin');
      await single.query('set local synchronous_commit = remote_write');
      await work();
      const { rows } = await single.query("select current_setting('synchronous_commit') as setting");
      await single.query('rollback');
      return rows[0]?.setting;
    };
    try {
      assert.equal(await settingAfter(() => claim(single, termsOf(1))), 'off', 'a claim alone does not wait');
      assert.equal(await settingAfter(() => endAndClaim(single)), 'remote_write');
    } finally {
      await single.end();
    }
  });

  it('a complete-and-claim statement that waits for a lock leaves the work of other apps to other claims', async () => {
    const other = await insertAppAndWorker(database.pool);
    await queueWork(database.pool, other, 1);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from usage where app_id = $1 for update', [served.appId]);
      const held = assert.rejects(endAndClaim(database.pool), { code: '55P03' });
      await until(async () => {
        const { rows } = await database.pool.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      });
      const asks = [served, other].map((one) => askOf(one, SLOTS));
      const { claims } = await claim(database.pool, claimTerms(served.processId, asks));
      assert.ok(claims.some(({ party }) => party === other.appId));
      await held;
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});

import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import {
  type Claim,
  type ClaimTerms,
  claim,
  type FlowAsk,
  queuedFlows,
} from '../../shared/db/stores/work/claim.ts';
import { complete, completeAndClaim } from '../../shared/db/stores/work/complete.ts';
import { newId } from '../../shared/ids.ts';
import {
  claimTerms,
  openServed,
  queueWork,
  type Served,
  suggested,
  WINDOW_S,
} from '../support/common-path.ts';
import { createDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const SLOTS = 8;

/** Asks for so much of the work of an app. */
const askOf = ({ party }: Served, count: number): FlowAsk => ({
  kind: 'predict',
  party,
  count,
  sinceMs: null,
});
const partiesOf = (flows: readonly { party: string }[]) => flows.map(({ party }) => party);

describe('claim', () => {
  let database: TestDatabase;
  let worker: string;
  beforeEach(async () => {
    database = await createDatabase();
    worker = (await openServed(database.pool)).process;
  });
  afterEach(() => database.drop());

  const claimed = (asks: readonly FlowAsk[], more: Partial<ClaimTerms> = {}) =>
    claim(database.pool, { ...claimTerms(worker, asks), ...more });

  /** Apps of which so much waits. */
  const waiting = async (...counts: number[]) => {
    const apps: Served[] = [];
    for (const count of counts) {
      const app = await openServed(database.pool);
      await queueWork(database.pool, app, count);
      apps.push(app);
    }
    return apps as [Served, Served, Served];
  };

  it('a claim takes the oldest pieces of each flow, as many as it asks for, and says of which some are left', async () => {
    const [many, few, none] = await waiting(5, 1, 0);
    const { claims, left } = await claimed([many, few, none].map((app) => askOf(app, 3)));
    assert.deepEqual(partiesOf(claims).sort(), [many, many, many, few].map(({ party }) => party).sort());
    assert.deepEqual(partiesOf(left), [many.party]);
    const rest = await claimed([askOf(many, 3)]);
    assert.deepEqual(rest.left, []);
    const newest = Math.max(
      ...claims.filter(({ party }) => party === many.party).map((one) => one.queuedAtMs),
    );
    assert.ok(rest.claims.length === 2 && rest.claims.every((one) => one.queuedAtMs >= newest));
  });

  it('a claim takes no more than there are slots, from the flows that it names first', async () => {
    const apps = await waiting(2, 2, 2);
    const { claims, left } = await claimed(
      apps.map((app) => askOf(app, 2)),
      { slots: 3 },
    );
    const [first, second, third] = partiesOf(apps);
    assert.deepEqual(partiesOf(claims).sort(), [first, first, second].sort());
    assert.deepEqual(partiesOf(left), [second, third]);
  });

  it('a claim takes what is past a piece that others are just claiming, and says that some is left', async () => {
    const [app] = await waiting(2);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from work where party = $1 order by queued_at limit 1 for update', [
        app.party,
      ]);
      const { claims, left } = await claimed([askOf(app, 2)]);
      assert.deepEqual([claims.length, partiesOf(left)], [1, [app.party]]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  it('a claim takes no work that is past its deadline or whose callers have left, and does not say that it is left', async () => {
    const [overdue, left] = await waiting(1, 1);
    const alter = (assignment: string, { party }: Served) =>
      database.pool.query(`update work set ${assignment} where party = $1`, [party]);
    await alter('deadline_at = now()', overdue);
    await alter('detached_at = now()', left);
    const asks = [askOf(overdue, 1), askOf(left, 1)];
    assert.deepEqual(await claimed(asks), { claims: [], left: [] });
    await alter("detached_at = 'infinity'", left);
    assert.equal((await claimed(asks)).claims.length, 1, 'it outlives its callers');
  });

  it('a claim takes one piece at a time of a party of such a kind, the next one when that has ended', async () => {
    const [app] = await waiting(3);
    const inTurn = { oneAtATime: ['predict'] };
    const first = await claimed([askOf(app, 3)], inTurn);
    assert.deepEqual([first.claims.length, first.left], [1, []]);
    assert.deepEqual(await claimed([askOf(app, 3)], inTurn), { claims: [], left: [] });
    await complete(database.pool, first.claims.map(suggested), WINDOW_S);
    assert.equal((await claimed([askOf(app, 3)], inTurn)).claims.length, 1);
  });

  it('a claim ends with the piece that reaches 256 KiB of requests', async () => {
    const apps = await waiting(1, 1, 1);
    await database.pool.query(`update work set input = repeat('x', 200000)`);
    const { claims, left } = await claimed(apps.map((app) => askOf(app, 1)));
    const [first, second, third] = partiesOf(apps);
    assert.deepEqual(partiesOf(claims).sort(), [first, second].sort());
    assert.deepEqual(partiesOf(left), [third]);
  });

  it('a claim finds work that nobody heard of: the flows of the oldest and the newest pieces of its kinds', async () => {
    const apps = await waiting(3, 1, 0);
    const [first, second] = partiesOf(apps);
    const found = await queuedFlows(database.pool, ['predict', 'reply']);
    assert.deepEqual(partiesOf(found).sort(), [first, second].sort());
    // As much as one look reads, queued before and after what is not seen.
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

describe('claims of ended work', () => {
  let database: TestDatabase;
  /** Of which work runs, and waits. */
  let served: Served;
  let running: Claim[];
  beforeEach(async () => {
    database = await createDatabase();
    served = await openServed(database.pool);
    await queueWork(database.pool, served, 3);
    running = (await claim(database.pool, termsOf(2))).claims;
    assert.equal(running.length, 2);
  });
  afterEach(() => database.drop());

  const termsOf = (count: number) => claimTerms(served.process, [askOf(served, count)]);
  const endAndClaim = (pool: Pool) =>
    completeAndClaim(pool, running.map(suggested), WINDOW_S, termsOf(SLOTS));

  it('a claim in the statement that ends work takes what waits', async () => {
    const { ended, claimed } = await endAndClaim(database.pool);
    assert.deepEqual(ended, [true, true]);
    assert.equal(claimed.claims.length, 1);
    assert.equal(claimed.claims[0]?.party, served.party);
    assert.deepEqual(claimed.left, []);
  });

  it('the end of work of a party that has one piece running at a time claims its next one', async () => {
    const one = { ...termsOf(1), oneAtATime: ['predict'] };
    assert.deepEqual((await claim(database.pool, one)).claims, []);
    const { claimed } = await completeAndClaim(database.pool, running.map(suggested), WINDOW_S, one);
    assert.equal(claimed.claims.length, 1);
  });

  it('a claim in the statement that ends work waits for the disk with it', async () => {
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
      assert.equal(await settingAfter(() => claim(single, termsOf(1))), 'off', 'a claim alone does not');
      assert.equal(await settingAfter(() => endAndClaim(single)), 'remote_write');
    } finally {
      await single.end();
    }
  });

  it('a claim in the statement that ends work leaves what others have queued to other workers while a lock holds the end up', async () => {
    const other = await openServed(database.pool);
    await queueWork(database.pool, other, 1);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from usage where app_id = $1 for update', [served.party]);
      const held = assert.rejects(endAndClaim(database.pool), { code: '55P03' });
      await until(async () => {
        const { rows } = await database.pool.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      });
      const asks = [served, other].map((one) => askOf(one, SLOTS));
      const { claims } = await claim(database.pool, claimTerms(served.process, asks));
      assert.ok(claims.some(({ party }) => party === other.party));
      await held;
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});

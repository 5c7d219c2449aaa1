import assert from 'node:assert/strict';
import { Pool } from 'pg';
import { type Claim, claim } from '../../shared/db/stores/work/claim.ts';
import { completeAndClaim } from '../../shared/db/stores/work/complete.ts';
import { roomOf } from '../../shared/domain/share.ts';
import { openServed, queueWork, type Served, suggested, WINDOW_S } from '../support/common-path.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const SLOTS = 8;
const KINDS = { names: ['predict'], oneAtATime: [] };

describe('one claim for all slots of an idle worker', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  /** Queues as much of each of that many parties, then claims: how many pieces of each party were taken. */
  async function claimedOf(parties: number): Promise<number[]> {
    const { pool } = database;
    const served = await Promise.all(Array.from({ length: parties }, () => openServed(pool)));
    for (const one of served) await queueWork(pool, one, SLOTS);
    const room = { slots: SLOTS, ofServed: new Map(), ofOthers: roomOf(0, SLOTS, SLOTS) };
    const worker = served[0]?.process ?? '';
    const { claims, more, takeable } = await claim(pool, { kinds: KINDS, worker, room });
    assert.ok(more);
    assert.equal(takeable, parties > 1);
    return served.map(({ party }) => claims.filter((one) => one.party === party).length);
  }

  it('takes all that a party may have that is alone', async () => {
    assert.deepEqual(await claimedOf(1), [7]);
  });

  it('leaves half of the slots when two wait, so that what each then holds counts for the rest', async () => {
    assert.deepEqual(await claimedOf(2), [2, 2]);
  });
});

describe('a claim in the statement that ends work', () => {
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

  const termsOf = (slots: number) => ({
    kinds: KINDS,
    worker: served.process,
    room: { slots, ofServed: new Map(), ofOthers: slots },
  });
  const endAndClaim = (pool: Pool) =>
    completeAndClaim(pool, running.map(suggested), WINDOW_S, termsOf(SLOTS));

  it('takes what waits', async () => {
    const { ended, claimed } = await endAndClaim(database.pool);
    assert.deepEqual(ended, [true, true]);
    assert.equal(claimed.claims.length, 1);
    assert.equal(claimed.claims[0]?.party, served.party);
    assert.equal(claimed.more, false);
  });

  it('of a party that has one piece running at a time takes its next one', async () => {
    const one = { ...termsOf(1), kinds: { ...KINDS, oneAtATime: KINDS.names } };
    assert.deepEqual((await claim(database.pool, one)).claims, []);
    const { claimed } = await completeAndClaim(database.pool, running.map(suggested), WINDOW_S, one);
    assert.equal(claimed.claims.length, 1);
  });

  it('waits for the disk with it', async () => {
    const single = new Pool({ connectionString: database.url, max: 1 });
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

  it('leaves what others have queued to other workers while a lock holds the end up', async () => {
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
      const { claims } = await claim(database.pool, termsOf(SLOTS));
      assert.ok(claims.some(({ party }) => party === other.party));
      await held;
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});

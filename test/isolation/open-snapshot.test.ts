import assert from 'node:assert/strict';
import type { PoolClient } from 'pg';
import { newId } from '../../shared/ids.ts';
import { blocksOf } from '../support/blocks.ts';
import { insertAppAndWorker, runPass } from '../support/common-path.ts';
import { useDatabase } from '../support/database.ts';

const START = `array[0, 0]::float8[], array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[2])`;
/** Statements that must read a bounded number of blocks, no matter how much work has ended. */
const STATEMENTS = {
  'the flows that a worker has not heard of': `select * from queued_flows_v1(array['predict', 'reply'])`,
  'overdue work': `select * from casualties_v1(array['predict', 'reply'], ${START}, 60000, null, null, 5000)`,
  'abandoned work': `select * from abandoned_v1(array['predict', 'reply'], 5000, 60000)`,
  'the work of dead processes': `
    select * from casualties_v1(
      array['predict', 'reply'], ${START}, null,
      (select id from processes where since < now() - interval '1 minute'), 1000, 5000)`,
};
const claimOf = (party: string, since: string) => `
  select * from claim_v1(array['predict'], array['${party}'::uuid], array[8], array[${since}]::float8[], 8,
    gen_random_uuid(), '{}', 120000)`;
const completeOf = (party: string) => `
  select * from complete_v1(
    '${party}', '[{"place": 0, "id": "01a1fbaf-da04-7722-9848-4cf73b953179", "guard": "attempt"}]',
    array[null], 600, 5000)`;
/** More heartbeats than a process sends in two minutes. */
const UPDATES = 600;

describe('open snapshot', () => {
  const database = useDatabase();
  let holder: PoolClient;
  before(async () => {
    holder = await database.pool.connect();
    await holder.query('begin isolation level repeatable read');
    await holder.query('select from work');
    await database.pool.query(
      `insert into processes (id, kind, alive_until, since)
       values (gen_random_uuid(), 'web', now() + interval '2 minutes', now() - interval '1 hour')`,
    );
  });
  after(async () => {
    holder.release(true);
  });

  it('while a snapshot stays open, a claim reads at most 4 more blocks after much work has ended #open-snapshot', async () => {
    const served = await insertAppAndWorker(database.pool);
    const read = () => blocksOf(database, claimOf(served.appId, 'extract(epoch from now()) * 1000'));
    const before = await read();
    for (let n = 0; n < UPDATES / 10; n += 1) await runPass(database.pool, served, 10);
    const [since, all] = [await read(), await blocksOf(database, claimOf(served.appId, 'null'))];
    assert.ok(since <= before + 4, `${before} blocks before, ${since} after`);
    assert.ok(all > 10 * since, `${all} blocks of the whole queue: the snapshot kept nothing`);
  });

  for (const [name, look] of Object.entries(STATEMENTS))
    it(`while a snapshot stays open, a query for ${name} reads at most 10 more blocks after much work has ended #open-snapshot`, async () => {
      // As autovacuum does at any time.
      await database.pool.query('analyze work');
      const before = await blocksOf(database, look);
      await database.pool.query(
        `insert into work (
           id, kind, party, key, queued_at, attempt, admission, fingerprint, supersedable, waiters, detached_at,
           cancel_on_disconnect, admitted_at, deadline_at, facts, input)
         select gen_random_uuid(), 'predict', gen_random_uuid(), gen_random_uuid(), t, 1, gen_random_uuid(), '', false,
                '{}', t, false, t, t + interval '1 minute', '{}', ''
           from (select now() - interval '10 minutes' + make_interval(secs => n / 100.0) as t
                   from generate_series(1, 5000) n) w`,
      );
      await database.pool.query(`delete from work where facts = '{}'`);
      const after = [await blocksOf(database, look)];
      await database.pool.query('analyze work');
      after.push(await blocksOf(database, look));
      assert.ok(Math.max(...after) <= before + 10, `${before} blocks before, ${after.join(' and ')} after`);
    });

  it('while a snapshot stays open, a completion reads at most 4 more blocks after many heartbeats', async () => {
    await database.pool.query(
      `insert into processes (id, kind, alive_until) values (gen_random_uuid(), 'test', now() + interval '2 minutes')`,
    );
    const before = await blocksOf(database, completeOf(newId()));
    for (let n = 0; n < UPDATES; n += 1)
      await database.pool.query(`update processes set alive_until = now() + interval '2 minutes'`);
    const after = await blocksOf(database, completeOf(newId()));
    assert.ok(after <= before + 4, `${before} blocks before, ${after} after`);
  });

  it("while a snapshot stays open, a look-up of an app's usage reads at most 10 more blocks after many writes #open-snapshot", async () => {
    const { appId } = await insertAppAndWorker(database.pool);
    const usage = `'${appId}', month_of(now())`;
    const look = `select lock_usage_v1(${usage})`;
    await database.pool.query(`select open_usage_v1(${usage})`);
    const before = await blocksOf(database, look);
    await database.pool.query(
      `do $$ begin for n in 1..5000 loop perform store_usage_v1(lock_usage_v1(${usage})); end loop; end $$`,
    );
    const after = [await blocksOf(database, look)];
    await database.pool.query('analyze usage');
    after.push(await blocksOf(database, look));
    assert.ok(Math.max(...after) <= before + 10, `${before} blocks before, ${after.join(' and ')} after`);
  });

  it('while a snapshot stays open, a completion reads at most 10 more blocks after much work has ended #open-snapshot', async () => {
    const served = await insertAppAndWorker(database.pool);
    const before = await blocksOf(database, completeOf(served.appId));
    for (let n = 0; n < UPDATES / 10; n += 1) await runPass(database.pool, served, 10);
    await database.pool.query('analyze work');
    const after = await blocksOf(database, completeOf(served.appId));
    assert.ok(after <= before + 10, `${before} blocks before, ${after} after`);
  });
});

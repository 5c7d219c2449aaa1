import assert from 'node:assert/strict';
import type { ClientBase, PoolClient } from 'pg';
import { publish } from '../../shared/db/stores/work/snapshot.ts';
import { newId } from '../../shared/ids.ts';
import { openServed, pass } from '../support/common-path.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const KINDS = ['predict', 'reply'];
const CLAIM = `select * from claim_v5(array['predict', 'reply'], '{}', gen_random_uuid(), 8, '{}', '{}', 7, 5000)`;
const PUBLISH = `select publish_v1(array['predict', 'reply'])`;
const completeOf = (party: string) => `
  select * from complete_v1(
    '${party}', '[{"place": 0, "id": "01a1fbaf-da04-7722-9848-4cf73b953179", "guard": "attempt"}]',
    array[null], 600, 5000)`;
/** Two minutes of a busy leader, and more heartbeats than a process has in as long. */
const TIMES = 600;

describe('while a foreign transaction keeps a snapshot', () => {
  let database: TestDatabase;
  let holder: PoolClient;
  before(async () => {
    database = await createDatabase();
    holder = await database.pool.connect();
    await holder.query('begin isolation level repeatable read');
    await holder.query('select from work');
  });
  after(async () => {
    holder.release(true);
    await database.drop();
  });

  it('a claim reads as much after many publications of the queue as after one', async () => {
    await publish(database.pool, KINDS);
    const before = await blocksOf(database, CLAIM);
    for (let n = 0; n < TIMES; n += 1) await publish(database.pool, KINDS);
    const after = await blocksOf(database, CLAIM);
    assert.ok(after <= before + 4, `${before} blocks before, ${after} after`);
  });

  it('a publication reads little more after much work and many others than after none', async () => {
    const { pool } = database;
    const served = await openServed(pool);
    // Its floor moves every 2 s. Every 20 s such a move reads everything: these do not.
    const age = (scannedS: number) =>
      pool.query(
        `update queue_snapshots
            set next_floor_at = now() - interval '3 seconds',
                snapshot = (
                  snapshot::jsonb || jsonb_build_object('scannedAt', now() - make_interval(secs => $1)))::json`,
        [scannedS],
      );
    await publish(pool, KINDS);
    const before = await blocksOf(database, PUBLISH, () => age(10));
    for (let n = 0; n < TIMES / 4; n += 1) await pass(pool, served, 10);
    for (let n = 0; n < TIMES / 4; n += 1) await publish(pool, KINDS);
    for (let n = 0; n < 5; n += 1) {
      await age(30);
      await publish(pool, KINDS);
    }
    // As autovacuum does, in a moment with little work.
    await pool.query('analyze work, queue_snapshots');
    const after = await blocksOf(database, PUBLISH, () => age(10));
    assert.ok(after <= 2 * before, `${before} blocks before, ${after} after`);
  });

  it('a completion reads as much after many heartbeats as after one', async () => {
    await database.pool.query(
      `insert into processes (id, kind, alive_until) values (gen_random_uuid(), 'test', now() + interval '1 hour')`,
    );
    const before = await blocksOf(database, completeOf(newId()));
    for (let n = 0; n < TIMES; n += 1)
      await database.pool.query(`update processes set alive_until = now() + interval '1 hour'`);
    const after = await blocksOf(database, completeOf(newId()));
    assert.ok(after <= before + 4, `${before} blocks before, ${after} after`);
  });

  it('a completion reads as much after much work of its party as after none', async () => {
    const served = await openServed(database.pool);
    const before = await blocksOf(database, completeOf(served.party));
    for (let n = 0; n < TIMES / 10; n += 1) await pass(database.pool, served, 10);
    // As autovacuum does, in a moment with little work.
    await database.pool.query('analyze work');
    const after = await blocksOf(database, completeOf(served.party));
    assert.ok(after <= before + 10, `${before} blocks before, ${after} after`);
  });
});

/** The blocks that a statement reads, by a session that has planned it. */
async function blocksOf(
  { pool }: TestDatabase,
  statement: string,
  prepare?: () => Promise<unknown>,
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('set enable_seqscan = off');
    await prepare?.();
    await explained(client, statement);
    await prepare?.();
    return await explained(client, statement);
  } finally {
    client.release(true);
  }
}

async function explained(client: ClientBase, statement: string): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement}`);
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

import type { ClientBase } from 'pg';
import type { TestDatabase } from './database.ts';

/**
 * Returns the number of blocks that a statement reads in a session that has already planned it: the lower of two
 * counts, since autovacuum may end at any time, after which a session reads the catalog again.
 */
export async function blocksOf({ pool }: TestDatabase, statement: string): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('set enable_seqscan = off');
    await blocksInPlan(client, statement);
    return Math.min(await blocksInPlan(client, statement), await blocksInPlan(client, statement));
  } finally {
    client.release(true);
  }
}

async function blocksInPlan(client: ClientBase, statement: string): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement}`);
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

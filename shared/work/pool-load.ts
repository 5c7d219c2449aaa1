import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/config.ts';
import { countWaitingParties, type LoadRow, readLoad } from '../db/stores/work/load.ts';
import { desiredWorkers, type PoolLoad } from '../domain/scaling.ts';
import { type Kinds, kindsOfPool } from './kind.ts';

export function poolLoad(rows: readonly LoadRow[]): PoolLoad {
  const { workers, slots } = rows[0] ?? { workers: 0, slots: 0 };
  return {
    queued: rows.reduce((sum, row) => sum + row.queued, 0),
    running: rows.reduce((sum, row) => sum + row.running, 0),
    oldestMs: Math.max(0, ...rows.map(({ oldestMs }) => oldestMs)),
    workers,
    slots,
  };
}

/** Returns undefined if there is no such pool. */
export async function readDesiredWorkers(
  pool: Pool,
  kinds: Kinds,
  name: string,
): Promise<number | undefined> {
  const poolName = POOLS.find((one) => one === name);
  const servedKinds = poolName === undefined ? [] : Object.values(kindsOfPool(kinds, poolName));
  if (servedKinds.length === 0) return undefined;
  return desiredWorkers(poolLoad(await readLoad(pool, servedKinds)));
}

/** Number of accounts for which a round or a retry admits jobs at once. */
export const PAGE_ACCOUNTS = 20;

/** Reports whether fewer than `PAGE_ACCOUNTS` accounts have jobs that wait for a slot of the pool. */
export async function hasRoomForPage(database: Pool, kinds: Kinds, pool: PoolName): Promise<boolean> {
  return (await countWaitingParties(database, Object.keys(kindsOfPool(kinds, pool)))) < PAGE_ACCOUNTS;
}

import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/config.ts';
import { countWaitingParties, type LoadRow, readLoad } from '../db/stores/work/load.ts';
import { desiredWorkers, type PoolLoad } from '../domain/scaling.ts';
import { type Kinds, kindNamed, kindsOfPool } from './kind.ts';

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

/** A pool at one moment. */
export interface PoolReading extends PoolLoad, Pick<LoadRow, 'claimed' | 'pausedAt'> {
  pool: PoolName;
  /** True if more may be queued than `queued`. */
  isMore: boolean;
  /** Claims per second since the reading before, of workers that still live; undefined at the first reading. */
  rate: number | undefined;
}

/** The returned function reads all pools. */
export function poolReader(database: Pool, kinds: Kinds): () => Promise<PoolReading[]> {
  let before: { at: number; pools: PoolReading[] } | undefined;
  return async () => {
    const at = performance.now();
    const rows = await readLoad(database, Object.values(kinds));
    const pools = POOLS.map((pool) => {
      const ofPool = rows.filter(({ kind }) => kindNamed(kinds, kind).pool === pool);
      const { claimed = 0, pausedAt = null } = ofPool[0] ?? {};
      const earlier = before?.pools.find((one) => one.pool === pool)?.claimed ?? claimed;
      const rate = before && (1000 * Math.max(0, claimed - earlier)) / Math.max(1, at - before.at);
      const isMore = ofPool.some((row) => row.isMore);
      return { pool, ...poolLoad(ofPool), isMore, claimed, pausedAt, rate };
    });
    before = { at, pools };
    return pools;
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

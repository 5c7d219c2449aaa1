import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../../../shared/config/pools.ts';
import { databaseNow } from '../../../shared/db/stores/schedules.ts';
import { drainQueued, pausePools, resumePools, workerBeats } from '../../../shared/db/stores/work/operate.ts';
import { kindsOf } from '../../../shared/work/kind.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { choice, required } from '../arguments.ts';
import { command } from '../command.ts';
import { retryFailed } from '../retry-failed.ts';

/** Workers beat each half second. */
const AWARE_WITHIN_MS = 3000;
const LOOK_EVERY_MS = 50;

const pool = (value: string) => choice('POOL', value, POOLS);

/** One pool, or all of them. */
const poolsOf = (operand: string | undefined) => (operand === undefined ? POOLS : [pool(operand)]);

export const queuePause = command({
  synopsis: '[POOL]',
  options: {},
  operands: 1,
  read(_, operand) {
    const pools = poolsOf(operand);
    return async ({ database }) => {
      await pausePools(database.pool, pools);
      const unaware = await unawareWorkers(database.pool, pools);
      const text = `Paused: ${pools.join(', ')}. What runs goes on; what waits stays until its deadline.`;
      const late = `${text} ${unaware} workers have not noticed yet.`;
      return { data: { paused: pools, unaware_workers: unaware }, text: unaware === 0 ? text : late };
    };
  },
});

/** Waits until each living worker of the pools has noticed a change. Resolves with how many have not in time. */
async function unawareWorkers(database: Pool, pools: readonly PoolName[]): Promise<number> {
  const until = performance.now() + AWARE_WITHIN_MS;
  let unaware = 0;
  // A heartbeat on its way may have read before the change; the one after it has not.
  for (const _ of ['on its way', 'after it']) {
    const before = await workerBeats(database, pools);
    do {
      await sleep(LOOK_EVERY_MS);
      const now = await workerBeats(database, pools);
      unaware = [...before].filter(([id, beat]) => now.get(id) === beat).length;
    } while (unaware > 0 && performance.now() < until);
    if (unaware > 0) break;
  }
  return unaware;
}

export const queueResume = command({
  synopsis: '[POOL]',
  options: {},
  operands: 1,
  read(_, operand) {
    const pools = poolsOf(operand);
    return async ({ database }) => {
      await resumePools(database.pool, pools);
      return { data: { resumed: pools }, text: `Resumed: ${pools.join(', ')}.` };
    };
  },
});

export const queueDrain = command({
  synopsis: 'POOL',
  options: {},
  operands: 1,
  read(_, operand) {
    const drained = pool(required('POOL', operand));
    return async ({ database, config: { recoveryWindowS } }) => {
      const before = await databaseNow(database.pool);
      const ended = await drainQueued(database.pool, kindsOf(kinds, drained), { before, recoveryWindowS });
      const text = `${ended} ended as service_unavailable. What runs goes on; new work is taken unless the pool is paused.`;
      return { data: { pool: drained, ended }, text };
    };
  },
});

export const queueRetryFailed = command({
  synopsis: '[POOL]',
  options: {},
  operands: 1,
  read(_, operand) {
    const pools = poolsOf(operand);
    return (admin) => retryFailed(admin, pools);
  },
});

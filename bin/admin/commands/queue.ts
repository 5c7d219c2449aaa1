import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../../../shared/config/pools.ts';
import { databaseNow } from '../../../shared/db/stores/schedules.ts';
import { admit } from '../../../shared/db/stores/work/admit.ts';
import {
  countKinds,
  drainQueued,
  failedJobs,
  pausePools,
  resumePools,
  workerBeats,
} from '../../../shared/db/stores/work/operate.ts';
import { newId } from '../../../shared/ids.ts';
import { admissionTerms, jobAdmission, NO_UNITS } from '../../../shared/work/admission.ts';
import { kindsOf } from '../../../shared/work/kind.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { SCHEDULES } from '../../../shared/work/schedules.ts';
import { choice, required } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';

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

/** Jobs that work on whatever is new: their input says nothing that is lost with them. */
const REPEATABLE = Object.values(SCHEDULES).flat();

async function retryFailed({ database, config }: Admin, pools: readonly PoolName[]): Promise<Outcome> {
  const named = pools.flatMap((one) => kindsOf(kinds, one));
  const repeatable = REPEATABLE.filter(({ kind }) => named.includes(kind.name));
  const failed = await failedJobs(
    database.pool,
    repeatable.map(({ kind }) => kind.name),
  );
  const retried: Record<string, number> = {};
  for (const { kind, body } of repeatable) {
    const terms = admissionTerms(kind, kinds, {
      process: newId(),
      timeoutMs: config[kind.deadline],
      recoveryWindowS: config.recoveryWindowS,
      units: NO_UNITS,
    });
    const ofKind = failed.filter((job) => job.kind === kind.name);
    for (const { id, party } of ofKind) {
      const job = jobAdmission(kind, { accountId: party, body, requestId: `retry ${id}`, wait: false });
      await admit(database.pool, [{ ...job, kind: kind.name, overloaded: false }], terms);
    }
    retried[kind.name] = ofKind.length;
  }
  const others = named.filter((name) => !repeatable.some(({ kind }) => kind.name === name));
  const counts = await countKinds(database.pool, others);
  const left = Object.fromEntries(counts.map(({ kind, failed: count }) => [kind, count]));
  return { data: { retried, left }, text: textOf(retried, left) };
}

function textOf(retried: Record<string, number>, left: Record<string, number>): string {
  const lines = Object.entries(retried).map(([kind, count]) => `${kind}: ${count} queued again`);
  const gone = Object.entries(left).map(
    ([kind, count]) =>
      `${kind}: none of ${count} queued again. Their input is erased and their callers have been answered; the same request runs again`,
  );
  return [...lines, ...gone].join('\n');
}

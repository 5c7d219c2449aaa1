import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Deadlines, PoolName } from '../config/config.ts';
import { isLockTimeout } from '../db/faults.ts';
import { databaseNow } from '../db/stores/schedules.ts';
import { admit } from '../db/stores/work/admit.ts';
import {
  countKinds,
  type Drained,
  drainQueued,
  failedJobs,
  pausePools,
  workerBeats,
} from '../db/stores/work/operate.ts';
import { LOWEST_ID, newId } from '../ids.ts';
import { admissionTerms, jobAdmission } from './admission.ts';
import { kindsOf } from './kind.ts';
import { kinds } from './kinds.ts';
import { type RoundStep, SCHEDULES } from './schedules.ts';

/** Time within which workers must notice a pause: their heartbeats, which read it, are at most 0.7 seconds apart. */
const PAUSE_NOTICE_TIMEOUT_MS = 3000;
const LOOK_EVERY_MS = 50;

/**
 * Makes the workers of these pools claim nothing new. Resolves with the number of workers that did not notice in time.
 */
export async function pause(database: Pool, pools: readonly PoolName[]): Promise<number> {
  await pausePools(database, pools);
  const until = performance.now() + PAUSE_NOTICE_TIMEOUT_MS;
  let late = 0;
  // Waits for two heartbeats of each worker: one that is under way may have read the pauses before this pause was
  // stored.
  for (const _ of ['on its way', 'after it']) {
    const before = await workerBeats(database, pools);
    do {
      await sleep(LOOK_EVERY_MS);
      const now = await workerBeats(database, pools);
      late = [...before].filter(([id, beat]) => now.get(id) === beat).length;
    } while (late > 0 && performance.now() < until);
    if (late > 0) break;
  }
  return late;
}

/** Ends the queued work of a pool as `service_unavailable`. What it had to leave, it ends when it is repeated. */
export async function drain(database: Pool, pool: PoolName, recoveryWindowS: number): Promise<Drained> {
  const before = await databaseNow(database);
  return drainQueued(database, kindsOf(kinds, pool), { before, recoveryWindowS });
}

const ACCOUNTS_PER_PAGE = 100;
/** Steps whose jobs work on whatever is new: a failed job can be replaced without its input. */
const REPEATABLE_STEPS = Object.values(SCHEDULES).flat();

export interface Retried {
  queued: number;
  /** Number of accounts whose job was not admitted because another transaction held a lock that the admission needs. */
  locked: number;
}

export interface RetryTerms {
  deadlines: Deadlines;
  recoveryWindowS: number;
  /** Called after each page but the last with a kind's counts so far. */
  onPage?(kind: string, soFar: Retried): void;
}

/**
 * Queues a new job for each account whose latest job of a kind failed, each in a transaction of its own. Safe to
 * interrupt and to repeat: an account that has got a new job is not found again. Resolves with what was done for each
 * kind (`retried`) and, for each kind that cannot be retried, with its number of failures (`left`).
 */
export async function retryFailed(
  database: Pool,
  pools: readonly PoolName[],
  terms: RetryTerms,
): Promise<{ retried: Record<string, Retried>; left: Record<string, number> }> {
  const kindNames = pools.flatMap((one) => kindsOf(kinds, one));
  const repeatable = REPEATABLE_STEPS.filter(({ kind }) => kindNames.includes(kind.name));
  const retried: Record<string, Retried> = {};
  for (const step of repeatable) retried[step.kind.name] = await retryStep(database, step, terms);
  const others = kindNames.filter((name) => !repeatable.some(({ kind }) => kind.name === name));
  const counts = await countKinds(database, others);
  return { retried, left: Object.fromEntries(counts.map(({ kind, failed }) => [kind, failed])) };
}

async function retryStep(database: Pool, { kind, body }: RoundStep, terms: RetryTerms): Promise<Retried> {
  const { deadlines, recoveryWindowS, onPage } = terms;
  const admission = admissionTerms(kind, {
    process: newId(),
    timeoutMs: deadlines[kind.deadline],
    recoveryWindowS,
  });
  const counts = { queued: 0, locked: 0 };
  for (let after: string | undefined = LOWEST_ID; after !== undefined; ) {
    const page = await failedJobs(database, kind.name, after, ACCOUNTS_PER_PAGE);
    for (const { id, party } of page.failed) {
      const job = jobAdmission(kind, { accountId: party, body, requestId: `retry ${id}` });
      try {
        const [admitted] = await admit(database, [job], admission);
        counts.queued += Number(admitted?.decision === 'admitted');
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        counts.locked += 1;
      }
    }
    after = page.last;
    if (after !== undefined) onPage?.(kind.name, counts);
  }
  return counts;
}

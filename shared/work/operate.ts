import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { PoolName, WorkTimeouts } from '../config/config.ts';
import { isLockTimeout } from '../db/faults.ts';
import type { Connections } from '../db/statement.ts';
import { databaseNow } from '../db/stores/schedules.ts';
import type { Completion } from '../db/stores/work/complete.ts';
import { readLoad } from '../db/stores/work/load.ts';
import {
  countKinds,
  type DrainCounts,
  drainQueued,
  type FailedJob,
  pausePools,
  readHeartbeats,
  readJobsToRetry,
} from '../db/stores/work/operate.ts';
import { LOWEST_ID, newId } from '../ids.ts';
import type { Queues } from '../queue/queues.ts';
import { admissionTerms, admitWork, jobAdmission } from './admission.ts';
import { endWork } from './completion.ts';
import { type AddJobs, jobAdder } from './jobs.ts';
import { kindNamesOfPool, kindsOfPool } from './kind.ts';
import { kinds } from './kinds.ts';
import { hasRoomForPage, PAGE_ACCOUNTS } from './pool-load.ts';
import { type RoundStep, SCHEDULES } from './schedules.ts';

/** Time for workers to notice a pause. They look for pauses with each heartbeat, at least every 0.7 seconds. */
const PAUSE_NOTICE_TIMEOUT_MS = 3000;
const POLL_EVERY_MS = 50;

/** Stops workers from claiming work of these pools. Resolves with the number of workers that did not notice in time. */
export async function pause(database: Pool, pools: readonly PoolName[]): Promise<number> {
  await pausePools(database, pools);
  const until = performance.now() + PAUSE_NOTICE_TIMEOUT_MS;
  let lateWorkers = 0;
  // Waits for two heartbeats of each worker: the first may have read the pauses before this pause was stored.
  for (const _ of ['first', 'second']) {
    const before = await readHeartbeats(database, pools);
    do {
      await sleep(POLL_EVERY_MS);
      const now = await readHeartbeats(database, pools);
      lateWorkers = [...before].filter(([id, beat]) => now.get(id) === beat).length;
    } while (lateWorkers > 0 && performance.now() < until);
    if (lateWorkers > 0) break;
  }
  return lateWorkers;
}

/**
 * Ends a pool's queued work as `service_unavailable`. Skips work that another transaction has locked; call it again to
 * end that work too.
 */
export async function drain(
  { pool, em }: Connections,
  name: PoolName,
  recoveryWindowS: number,
): Promise<DrainCounts> {
  const before = await databaseNow(pool);
  const end = (ofParty: Completion[]) => endWork({ pool, em, kinds, recoveryWindowS }, ofParty);
  return drainQueued(pool, kindNamesOfPool(kinds, name), { before, end });
}

const ROOM_CHECK_EVERY_MS = 250;
/** Each job of these steps processes whatever is new. A failed job can thus be replaced without its input. */
const REPEATABLE_STEPS = Object.values(SCHEDULES).flat();

export type RetryStop = 'no_worker' | 'paused' | 'full';

export interface RetryCounts {
  queued: number;
  /** Number of accounts that were skipped because another transaction held a lock. */
  locked: number;
  /** Reason why the retry ended before its last page; absent if it did not. */
  stopped?: RetryStop;
}

export interface RetryJobsOptions {
  queues: Pick<Queues, 'add'>;
  timeouts: WorkTimeouts;
  recoveryWindowS: number;
  /** Maximum time to wait, per kind, until its pool has room for more jobs. */
  roomTimeoutMs: number;
  /** Called with the kind and its counts so far, after each page except the last. */
  onPage?(kind: string, soFar: RetryCounts): void;
}

/**
 * Queues a new job for each active account whose latest job of a kind failed in the last 24 hours. Safe to interrupt
 * and to repeat, because an account with a new job is not found again. `retried` has the counts of each retried kind.
 * `left` has, for each kind that cannot be retried, the number of failures in those 24 hours.
 */
export async function retryFailed(
  database: Connections,
  pools: readonly PoolName[],
  options: RetryJobsOptions,
): Promise<{ retried: Record<string, RetryCounts>; left: Record<string, number> }> {
  const kindNames = pools.flatMap((one) => kindNamesOfPool(kinds, one));
  const repeatable = REPEATABLE_STEPS.filter(({ kind }) => kindNames.includes(kind.name));
  const retried: Record<string, RetryCounts> = {};
  for (const step of repeatable) retried[step.kind.name] = await retryStep(database, step, options);
  const otherKinds = kindNames.filter((name) => !repeatable.some(({ kind }) => kind.name === name));
  const counts = await countKinds(database.pool, otherKinds);
  return { retried, left: Object.fromEntries(counts.map(({ kind, failed }) => [kind, failed])) };
}

async function retryStep(
  database: Connections,
  step: RoundStep,
  { roomTimeoutMs, onPage, queues, ...options }: RetryJobsOptions,
): Promise<RetryCounts> {
  const { kind } = step;
  const addJobs = jobAdder(queues, kinds);
  const until = performance.now() + roomTimeoutMs;
  const counts = { queued: 0, locked: 0 };
  for (let after: string | undefined = LOWEST_ID; after !== undefined; ) {
    const page = await readJobsToRetry(database.pool, kind.name, after, PAGE_ACCOUNTS);
    const stopped = page.jobs.length === 0 ? undefined : await reasonNotToAdmit(database.pool, kind.pool);
    if (stopped === 'full' && performance.now() < until) {
      await sleep(ROOM_CHECK_EVERY_MS);
      // Reads the page again, since an account may have a new job by now.
      continue;
    }
    if (stopped !== undefined) return { ...counts, stopped };
    const { queued, locked } = await admitAgain(database, step, page.jobs, { ...options, addJobs });
    counts.queued += queued;
    counts.locked += locked;
    after = page.last;
    if (after !== undefined) onPage?.(kind.name, counts);
  }
  return counts;
}

/** Returns why no page of jobs may be admitted; undefined if one may. A paused pool takes jobs while it has room. */
export async function reasonNotToAdmit(database: Pool, pool: PoolName): Promise<RetryStop | undefined> {
  const [load] = await readLoad(database, Object.values(kindsOfPool(kinds, pool)));
  if (load === undefined || load.workers === 0) return 'no_worker';
  if (await hasRoomForPage(database, kinds, pool)) return undefined;
  return load.pausedAt === null ? 'full' : 'paused';
}

async function admitAgain(
  database: Connections,
  { kind, body }: RoundStep,
  failedJobs: readonly FailedJob[],
  {
    timeouts,
    recoveryWindowS,
    addJobs,
  }: Pick<RetryJobsOptions, 'timeouts' | 'recoveryWindowS'> & { addJobs: AddJobs },
): Promise<RetryCounts> {
  const timeoutMs = timeouts[kind.deadline];
  const terms = admissionTerms(kind, { process: newId(), timeoutMs, recoveryWindowS });
  const counts = { queued: 0, locked: 0 };
  for (const { id, party } of failedJobs) {
    const job = jobAdmission(kind, { accountId: party, body, facts: {}, requestId: `retry ${id}` });
    try {
      const [admissionResult] = await admitWork(database, kind, [job], terms);
      if (admissionResult?.decision !== 'admitted') continue;
      counts.queued += 1;
      addJobs([{ id: job.id, kind: kind.name, party }]);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      counts.locked += 1;
    }
  }
  return counts;
}

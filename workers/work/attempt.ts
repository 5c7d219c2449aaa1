import { isTransient } from '../../shared/db/faults.ts';
import { persistently } from '../../shared/db/retries.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { ClaimLost } from '../../shared/db/stores/work/progress.ts';
import type { End } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { rejectionOf } from '../../shared/rejection.ts';
import { WORKER_MARGIN_MS } from '../../shared/schemas/limits.ts';
import type { Complete } from '../../shared/work/completion.ts';
import type { Kind } from '../../shared/work/kind.ts';
import type { Allowance } from './handler.ts';
import type { PartsRoom } from './parts.ts';
import type { RunningAttempts } from './running.ts';

export interface AttemptSteps {
  kind: Kind;
  perform(claim: Claim, allowance: Allowance): Promise<End>;
  complete: Complete;
  running: RunningAttempts;
  parts: PartsRoom;
  log: Log;
}

const DEFECT: End = { state: 'failed', code: 'internal_error', source: 'worker' };

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * Performs one attempt within its deadline and completes its row; `freeSlot` gives its slot back while it waits for its parts.
 * A result that the database refuses ends its work as a defect at once. Never rejects.
 */
export async function attemptWork(steps: AttemptSteps, claim: Claim, freeSlot: () => void): Promise<void> {
  const { id, party, month, attempt, worker, queuedMs } = claim;
  const log = steps.log.child({ work: id, kind: claim.kind });
  const controller = steps.running.begin(claim);
  const until = performance.now() + claim.leftMs;
  const budgetMs = claim.leftMs - WORKER_MARGIN_MS;
  const timer = setTimeout(() => controller.abort(new OutOfTime()), Math.max(0, budgetMs));
  try {
    const { signal } = controller;
    const leftMs = () => until - WORKER_MARGIN_MS - performance.now();
    const park = () => {
      steps.running.park(claim);
      freeSlot();
    };
    const parts = steps.parts.of({ claim, kind: steps.kind, signal, leftMs, park });
    const work = Promise.try(steps.perform, claim, { signal, leftMs, parts });
    const end = await performed(work, signal, steps.kind, log);
    if (end === undefined) return;
    const own = { id, party, month, guard: 'attempt', attempt, worker, queuedMs } as const;
    // Keeps trying through a short database outage: the provider's answer is paid for.
    const storeAs = (how: End) => persistently(() => steps.complete({ ...own, ...how }), until);
    const store = () =>
      storeAs(end).catch((error: unknown) => {
        if (isTransient(error)) throw error;
        log.error({ err: error }, 'a result cannot be stored');
        return storeAs(DEFECT);
      });
    let ended = await store();
    if (!ended) {
      // A crash of the database may have undone the claim: then the row is queued, and the answer still its own.
      await persistently(() => steps.running.reclaim(claim), until);
      ended = await store();
    }
    if (!ended) log.info({ attempt }, 'result discarded: the row no longer belongs to this attempt');
  } catch (error) {
    log.warn({ err: error }, 'could not store a result: the housekeeping ends or retries the work');
  } finally {
    clearTimeout(timer);
    steps.running.finish(claim);
  }
}

/** How the work ends; undefined if it was taken away from this attempt. */
async function performed(
  work: Promise<End>,
  signal: AbortSignal,
  { codes }: Kind,
  log: Log,
): Promise<End | undefined> {
  try {
    // A handler that ignores its signal holds nobody up.
    return await Promise.race([work, rejectionOf(signal)]);
  } catch (error) {
    if (signal.reason instanceof OutOfTime) return { state: 'failed', code: codes.timeout };
    if (signal.aborted || error instanceof ClaimLost) return undefined;
    if (error instanceof AppError) return { state: 'failed', code: error.code, source: 'worker' };
    log.error({ err: error }, 'handler failed unexpectedly');
    return DEFECT;
  }
}

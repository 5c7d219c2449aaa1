import type { Pool } from 'pg';
import { createBatcher } from '../db/batcher.ts';
import { isLockTimeout, isUnavailable } from '../db/faults.ts';
import type { ClaimResult, ClaimTerms } from '../db/stores/work/claim.ts';
import { type Completion, complete, completeAndClaim } from '../db/stores/work/complete.ts';
import { batches } from '../metrics/work.ts';
import type { WakeUps } from './wake-ups.ts';

/** Maximum number of completions in one statement, and maximum length of their answers in UTF-16 units. */
const COMPLETIONS_MAX = 100;
const ANSWER_UNITS_MAX = 256 * 1024;
/**
 * Maximum waits in a busy worker, in milliseconds. `statement`: a completion waits for others that share its statement.
 * `wakeUp`: the wake-up of its callers waits for others that share its message. Neither wait exceeds a tenth
 * (`ofQueueing`) of the time for which the work was queued.
 */
const PATIENCE_MS = { statement: 5, wakeUp: 25, ofQueueing: 0.1 };
/**
 * Maximum number of completions that wait for others to share their statement, and of those whose statement also claims
 * work. More of them share a statement without a wait.
 */
const FEW_COMPLETIONS = 32;

/**
 * Ends a piece of work. Resolves with false if its guard failed. After the commit, wakes the processes that wait for
 * the work or run it.
 */
export type Completer = (completion: Completion) => Promise<boolean>;

/** A claim for the slots of ended attempts, made in the statement that ends them. */
export interface NextClaim extends ClaimTerms {
  onClaimed(claimed: ClaimResult): void;
  /** Called if the statement failed; it may have taken effect nevertheless. */
  onLost(): void;
}

/** Hooks of a worker, which let the statement that ends its attempts also claim work. */
export interface WorkerHooks {
  /** Checks whether attempts end so often that they may share a statement. */
  isBusy(): boolean;
  /** Returns the claim to make in the statement that ends these attempts; undefined for none. */
  nextAfter(ended: readonly Completion[]): NextClaim | undefined;
}

export interface CompleterOptions {
  pool: Pool;
  recoveryWindowS: number;
  wakeUps: Pick<WakeUps, 'announceEnded' | 'announceCompleted'>;
  /** Given by workers only. */
  worker?: WorkerHooks;
}

/** Creates the function that ends work, in batches. */
export function createCompleter({ pool, recoveryWindowS, wakeUps, worker }: CompleterOptions): Completer {
  async function end(batch: readonly Completion[]): Promise<boolean[]> {
    const next = batch.length > FEW_COMPLETIONS ? undefined : worker?.nextAfter(batch);
    if (next === undefined) return complete(pool, batch, recoveryWindowS);
    try {
      const { ended, claimed } = await completeAndClaim(pool, batch, recoveryWindowS, next);
      next.onClaimed(claimed);
      return ended;
    } catch (error) {
      next.onLost();
      if (isUnavailable(error) || isLockTimeout(error)) throw error;
      // Retries without the claim: if the claim is at fault, no answer may be lost because of it.
      return complete(pool, batch, recoveryWindowS);
    }
  }

  return createBatcher(
    async (batch: Completion[]) => {
      batches.observe({ statement: 'complete' }, batch.length);
      const hasEnded = await end(batch);
      const endedItems = batch.filter((_, n) => hasEnded[n]);
      const byWorker = endedItems.filter(({ guard }) => guard === 'attempt');
      wakeUps.announceCompleted(
        byWorker.map(({ id }) => id),
        patienceOf(byWorker, PATIENCE_MS.wakeUp),
      );
      wakeUps.announceEnded(endedItems.filter(({ guard }) => guard !== 'attempt').map(({ id }) => id));
      return hasEnded;
    },
    {
      maxItems: COMPLETIONS_MAX,
      maxBytes: ANSWER_UNITS_MAX,
      partyOf: ({ party }) => party,
      bytesOf: ({ answer }) => answer?.length ?? 0,
      keysOf: ({ id }) => [id],
      isBusy: () => worker?.isBusy() ?? false,
      patienceMs: (one, waiting) =>
        waiting > FEW_COMPLETIONS ? 0 : patienceOf([one], PATIENCE_MS.statement),
    },
  );
}

function patienceOf(ended: readonly Completion[], maxMs: number): number {
  if (ended.length > FEW_COMPLETIONS) return 0;
  const queuedMs = Math.min(...ended.map((one) => one.queuedMs ?? 0));
  return Math.min(maxMs, PATIENCE_MS.ofQueueing * queuedMs);
}

import type { Pool } from 'pg';
import { createBatcher } from '../db/batcher.ts';
import { isLockTimeout, isUnavailable } from '../db/faults.ts';
import type { ClaimResult, ClaimTerms } from '../db/stores/work/claim.ts';
import { type Completion, complete, completeAndClaim } from '../db/stores/work/complete.ts';
import { batches } from '../metrics/work.ts';
import type { WakeUps } from './wake-ups.ts';

/** Maximum number of completions in one statement, and maximum size of their answers. */
const COMPLETIONS_MAX = 100;
const ANSWER_BYTES_MAX = 256 * 1024;
/**
 * Longest waits in a busy worker, in milliseconds. `statement`: a completion waits for others that share its statement.
 * `wakeUp`: the wake-up of its callers waits for others that share its message. Neither wait exceeds a tenth
 * (`ofQueueing`) of the time that the work was queued.
 */
const PATIENCE_MS = { statement: 5, wakeUp: 25, ofQueueing: 0.1 };
/**
 * Maximum number of completions that wait for more to share their statement, or claim work in it. A larger number fills
 * a statement by itself.
 */
const FEW_COMPLETIONS = 32;

/** Ends a piece of work; false if its guard failed. After the commit it wakes the processes that wait for the work or run it. */
export type Complete = (completion: Completion) => Promise<boolean>;

/** A claim for the slots of attempts that end, made in the statement that ends them. */
export interface NextClaim extends ClaimTerms {
  onClaimed(claimed: ClaimResult): void;
  /** Called if the statement failed, but may have taken effect. */
  onLost(): void;
}

/** Steps that a worker contributes to the end of its attempts. */
export interface WorkerSteps {
  /** Checks whether attempts end so often that they may share a statement. */
  isBusy(): boolean;
  /** Returns the claim to make in the statement that ends these attempts; undefined for none. */
  nextAfter(ended: readonly Completion[]): NextClaim | undefined;
}

export interface CompletionParts {
  pool: Pool;
  recoveryWindowS: number;
  wakeUps: Pick<WakeUps, 'announceEnded' | 'announceCompleted'>;
  /** Given by workers only. */
  worker?: WorkerSteps;
}

export function createCompletion({ pool, recoveryWindowS, wakeUps, worker }: CompletionParts): Complete {
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
      // Retries without the claim, which may be at fault: it must not cost an answer.
      return complete(pool, batch, recoveryWindowS);
    }
  }

  return createBatcher(
    async (batch: Completion[]) => {
      batches.observe({ statement: 'complete' }, batch.length);
      const ended = await end(batch);
      const done = batch.filter((_, n) => ended[n]);
      const byWorker = done.filter(({ guard }) => guard === 'attempt');
      wakeUps.announceCompleted(
        byWorker.map(({ id }) => id),
        patienceOf(byWorker, PATIENCE_MS.wakeUp),
      );
      wakeUps.announceEnded(done.filter(({ guard }) => guard !== 'attempt').map(({ id }) => id));
      return ended;
    },
    {
      most: COMPLETIONS_MAX,
      maxBytes: ANSWER_BYTES_MAX,
      partyOf: ({ party }) => party,
      bytesOf: ({ answer }) => answer?.length ?? 0,
      keysOf: ({ id }) => [id],
      isBusy: () => worker?.isBusy() ?? false,
      patienceMs: (one, waiting) =>
        waiting > FEW_COMPLETIONS ? 0 : patienceOf([one], PATIENCE_MS.statement),
    },
  );
}

function patienceOf(ended: readonly Completion[], mostMs: number): number {
  if (ended.length > FEW_COMPLETIONS) return 0;
  const queuedMs = Math.min(...ended.map((one) => one.queuedMs ?? 0));
  return Math.min(mostMs, PATIENCE_MS.ofQueueing * queuedMs);
}

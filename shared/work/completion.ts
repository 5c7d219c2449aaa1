import type { Pool } from 'pg';
import { batcher } from '../db/batcher.ts';
import { isLockTimeout, isUnavailable } from '../db/faults.ts';
import type { Claimed, ClaimTerms } from '../db/stores/work/claim.ts';
import { type Completion, complete, completeAndClaim } from '../db/stores/work/complete.ts';
import { batches } from '../metrics/work.ts';
import type { WakeUps } from './wake-ups.ts';

/** The most completions in one statement, and the most bytes of their answers. */
const MOST = 100;
const MOST_BYTES = 256 * 1024;
/**
 * While its worker is busy, an end waits for others to share its statement, and the wake-up of its callers for others
 * to share a message: at most a tenth of the time for which the work was queued, and at most these milliseconds.
 */
const PATIENCE_MS = { statement: 5, wakeUp: 25, ofQueueing: 0.1 };
/** The most that wait for others to end, and that claim in the same statement: more are busy enough alone. */
const FEW = 32;

/** Ends a piece of work; false if its guard failed. Wakes whoever waits for it or runs it, after the commit. */
export type Complete = (completion: Completion) => Promise<boolean>;

/** A claim in the statement that ends attempts, for the slots that these leave. */
export interface NextClaim extends ClaimTerms {
  onClaimed(claimed: Claimed): void;
  /** The statement failed, but may have taken effect. */
  onLost(): void;
}

/** The part of a worker in the end of its attempts. */
export interface WorkerSteps {
  /** Checks whether attempts end so often that they may share a statement. */
  isBusy(): boolean;
  /** Undefined when it claims nothing together with the end of these. */
  nextAfter(ended: readonly Completion[]): NextClaim | undefined;
}

export interface CompletionParts {
  pool: Pool;
  recoveryWindowS: number;
  wakeUps: Pick<WakeUps, 'ended' | 'completed'>;
  /** Given by workers only. */
  worker?: WorkerSteps;
}

export function createCompletion({ pool, recoveryWindowS, wakeUps, worker }: CompletionParts): Complete {
  async function end(batch: readonly Completion[]): Promise<boolean[]> {
    const next = batch.length > FEW ? undefined : worker?.nextAfter(batch);
    if (next === undefined) return complete(pool, batch, recoveryWindowS);
    try {
      const { ended, claimed } = await completeAndClaim(pool, batch, recoveryWindowS, next);
      next.onClaimed(claimed);
      return ended;
    } catch (error) {
      next.onLost();
      if (isUnavailable(error) || isLockTimeout(error)) throw error;
      // The claim may be at fault: it must not cost an answer.
      return complete(pool, batch, recoveryWindowS);
    }
  }

  return batcher(
    async (batch: Completion[]) => {
      batches.observe({ statement: 'complete' }, batch.length);
      const ended = await end(batch);
      const done = batch.filter((_, n) => ended[n]);
      const byWorker = done.filter(({ guard }) => guard === 'attempt');
      wakeUps.completed(
        byWorker.map(({ id }) => id),
        patienceOf(byWorker, PATIENCE_MS.wakeUp),
      );
      wakeUps.ended(done.filter(({ guard }) => guard !== 'attempt').map(({ id }) => id));
      return ended;
    },
    {
      most: MOST,
      maxBytes: MOST_BYTES,
      partyOf: ({ party }) => party,
      bytesOf: ({ answer }) => answer?.length ?? 0,
      keysOf: ({ id }) => [id],
      isBusy: () => worker?.isBusy() ?? false,
      patienceMs: (one, waiting) => (waiting > FEW ? 0 : patienceOf([one], PATIENCE_MS.statement)),
    },
  );
}

function patienceOf(ended: readonly Completion[], mostMs: number): number {
  if (ended.length > FEW) return 0;
  const queuedMs = Math.min(...ended.map((one) => one.queuedMs ?? 0));
  return Math.min(mostMs, PATIENCE_MS.ofQueueing * queuedMs);
}

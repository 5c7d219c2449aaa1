import type { Pool } from 'pg';
import { createBatcher } from '../db/batcher.ts';
import { isLockTimeout, isUnavailable } from '../db/faults.ts';
import type { ClaimResult, ClaimTerms } from '../db/stores/work/claim.ts';
import { type Completion, complete, completeAndClaim } from '../db/stores/work/complete.ts';
import { batchSizes } from '../metrics/work.ts';
import type { WakeUps } from './wake-ups.ts';

/** Maximum number of completions in one statement. */
const COMPLETIONS_MAX = 100;
/** Maximum length of all answers in one statement, in UTF-16 units. */
const ANSWER_UNITS_MAX = 256 * 1024;
/** Maximum time for which a busy worker delays a statement or a wake-up, to combine it with others. */
const PATIENCE_MS = { statement: 5, wakeUp: 25 };
/** The delay is at most this share of the time for which the work was queued. */
const PATIENCE_SHARE = 0.1;
/** A larger batch waits for no further completions, and its statement claims no work. */
const SMALL_BATCH_MAX = 32;

/**
 * Resolves with false if the work no longer meets the completion's `guard`. After the commit, notifies the processes
 * that wait for the work or run it.
 */
export type Completer = (completion: Completion) => Promise<boolean>;

/** A claim of new work for the slots of ended attempts, made in the statement that ends them. */
export interface NextClaim extends ClaimTerms {
  onClaimed(claimed: ClaimResult): void;
  /** Called after the statement failed. It may have claimed work nevertheless. */
  onLost(): void;
}

export interface WorkerHooks {
  isBusy(): boolean;
  nextAfter(ended: readonly Completion[]): NextClaim | undefined;
}

export interface CompleterOptions {
  pool: Pool;
  recoveryWindowS: number;
  wakeUps: Pick<WakeUps, 'announceEnded' | 'announceCompleted'>;
  /** Set only in workers. */
  worker?: WorkerHooks;
}

export function createCompleter({ pool, recoveryWindowS, wakeUps, worker }: CompleterOptions): Completer {
  async function end(batch: readonly Completion[]): Promise<boolean[]> {
    const next = batch.length > SMALL_BATCH_MAX ? undefined : worker?.nextAfter(batch);
    if (next === undefined) return complete(pool, batch, recoveryWindowS);
    try {
      const { ended, claimed } = await completeAndClaim(pool, batch, recoveryWindowS, next);
      next.onClaimed(claimed);
      return ended;
    } catch (error) {
      next.onLost();
      if (isUnavailable(error) || isLockTimeout(error)) throw error;
      // The statement also claims new work, which may have caused the error. Completes without a claim, so that no
      // answer is lost.
      return complete(pool, batch, recoveryWindowS);
    }
  }

  return createBatcher(
    async (batch: Completion[]) => {
      batchSizes.observe({ statement: 'complete' }, batch.length);
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
        waiting > SMALL_BATCH_MAX ? 0 : patienceOf([one], PATIENCE_MS.statement),
    },
  );
}

function patienceOf(ended: readonly Completion[], maxMs: number): number {
  if (ended.length > SMALL_BATCH_MAX) return 0;
  const queuedMs = Math.min(...ended.map((one) => one.queuedMs ?? 0));
  return Math.min(maxMs, PATIENCE_SHARE * queuedMs);
}

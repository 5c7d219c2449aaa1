import type { Pool } from 'pg';
import { batcher } from '../db/batcher.ts';
import { type Completion, complete } from '../db/stores/work/complete.ts';
import type { WakeUps } from './wake-ups.ts';

/** Most completions in one statement, and most bytes of their answers. */
const MOST = 100;
const MOST_BYTES = 256 * 1024;

/** Ends a piece of work; false if its guard failed. Wakes whoever waits for it or runs it, after the commit. */
export type Complete = (completion: Completion) => Promise<boolean>;

export function createCompletion(
  pool: Pool,
  recoveryWindowS: number,
  wakeUps: Pick<WakeUps, 'ended' | 'completed'>,
  isBusy: () => boolean = () => false,
): Complete {
  return batcher(
    async (batch: Completion[]) => {
      const ended = await complete(pool, batch, recoveryWindowS);
      const done = batch.filter((_, n) => ended[n]);
      const byWorker = done.filter(({ guard }) => guard === 'attempt');
      wakeUps.completed(byWorker.map(({ id }) => id));
      wakeUps.ended(done.filter(({ guard }) => guard !== 'attempt').map(({ id }) => id));
      return ended;
    },
    {
      most: MOST,
      maxBytes: MOST_BYTES,
      partyOf: ({ party }) => party,
      bytesOf: ({ answer }) => answer?.length ?? 0,
      keysOf: ({ id }) => [id],
      isBusy,
    },
  );
}

/** Wraps a store function that ends work as a side effect: wakes whoever waits for that work or runs it, after the commit. */
export function announcing<Args extends unknown[], Result>(
  wakeUps: Pick<WakeUps, 'ended'>,
  work: (...args: Args) => Promise<Result>,
  endedBy: (result: Result) => readonly string[],
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const result = await work(...args);
    wakeUps.ended(endedBy(result));
    return result;
  };
}

/** Shorter waits are normal. */
const STANDING_QUEUE_WAIT_MS = 150;

/** Share of a pool's slots that should be busy. The free slots take new work until another worker has started. */
const BUSY_SHARE = 0.7;

/** Load of a worker pool, over all kinds of its work. */
export interface PoolLoad {
  queued: number;
  running: number;
  /** Time that the oldest queued work has waited. */
  oldestMs: number;
  workers: number;
  slots: number;
}

/**
 * Returns how many workers the pool needs for its running work. Queued work counts only once the oldest has waited for
 * `STANDING_QUEUE_WAIT_MS`. The minimum is 1: a pool without workers refuses all work, so its load would never ask for
 * a worker.
 */
export function desiredWorkers({ queued, running, oldestMs, workers, slots }: PoolLoad): number {
  if (workers === 0) return 1;
  const wanted = running + (oldestMs >= STANDING_QUEUE_WAIT_MS ? queued : 0);
  return Math.max(1, Math.ceil(wanted / (BUSY_SHARE * (slots / workers))));
}

import { STANDING_QUEUE_WAIT_MS } from './load.ts';

/** Share of the slots that should be busy. The others take new work until another worker has started. */
const BUSY_SHARE = 0.7;

/** Load of a pool, over all its kinds. */
export interface PoolLoad {
  queued: number;
  running: number;
  /** Wait of the oldest queued piece. */
  oldestMs: number;
  workers: number;
  slots: number;
}

/**
 * Counts running work and, while a queue stands, queued work. Returns at least 1: a pool without workers refuses all
 * work, so no load would ever ask for the first worker.
 */
export function desiredWorkers({ queued, running, oldestMs, workers, slots }: PoolLoad): number {
  if (workers === 0) return 1;
  const wanted = running + (oldestMs >= STANDING_QUEUE_WAIT_MS ? queued : 0);
  return Math.max(1, Math.ceil(wanted / (BUSY_SHARE * (slots / workers))));
}

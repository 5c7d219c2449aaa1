import { STANDING_MS } from './load.ts';

/** The share of the slots that is to be busy: the rest takes what comes until another worker is up. */
const BUSY = 0.7;

/** The load of a pool: of all its kinds. */
export interface PoolLoad {
  queued: number;
  running: number;
  /** The wait of the oldest. */
  oldestMs: number;
  workers: number;
  slots: number;
}

/**
 * The workers that a pool should have. What runs is the arrival rate times the service time (Little's law); while a queue stands, what
 * waits wants a slot as well. At least 1: a pool without a worker refuses its work, so nothing would ever call for the first.
 */
export function desiredWorkers({ queued, running, oldestMs, workers, slots }: PoolLoad): number {
  if (workers === 0) return 1;
  const wanted = running + (oldestMs >= STANDING_MS ? queued : 0);
  return Math.max(1, Math.ceil(wanted / (BUSY * (slots / workers))));
}

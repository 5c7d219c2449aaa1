import type { Env } from './env.ts';

/** How long a call of each kind waits, queue time included, in milliseconds. */
export interface Deadlines {
  predictionTimeoutMs: number;
  replyTimeoutMs: number;
  batchTimeoutMs: number;
  syncTimeoutMs: number;
  promoteTimeoutMs: number;
}

const RANGE = { min: 1000, max: 600_000 };

export function readDeadlines(env: Env): Deadlines {
  return {
    predictionTimeoutMs: env.integer('PREDICTION_TIMEOUT_MS', 10_000, RANGE),
    replyTimeoutMs: env.integer('REPLY_TIMEOUT_MS', 30_000, RANGE),
    batchTimeoutMs: env.integer('BATCH_TIMEOUT_MS', 120_000, RANGE),
    syncTimeoutMs: env.integer('SYNC_TIMEOUT_MS', 60_000, RANGE),
    promoteTimeoutMs: env.integer('PROMOTE_TIMEOUT_MS', 120_000, RANGE),
  };
}

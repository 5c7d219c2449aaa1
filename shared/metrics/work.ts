import { counter, gauge, histogram, onScrape, sizeHistogram } from './registry.ts';

/**
 * `commit` stores the outcome. `wait` is the caller's time from the end of the admission to the answer: the stages
 * between them plus the wake-up.
 */
type Stage = 'admission' | 'queue' | 'handler' | 'commit' | 'wait';

const stageDurations = histogram(
  'forecue_work_stage_duration_seconds',
  'Duration of the stages of a piece of work.',
  ['kind', 'stage'],
);

export function observeStage(kind: string, stage: Stage, ms: number): void {
  stageDurations.observe({ kind, stage }, Math.max(0, ms) / 1000);
}

export async function timeStage<Result>(kind: string, stage: Stage, work: Promise<Result>): Promise<Result> {
  const since = performance.now();
  try {
    return await work;
  } finally {
    observeStage(kind, stage, performance.now() - since);
  }
}

export const admissions = counter('forecue_work_admissions_total', 'Calls for work, by decision.', [
  'kind',
  'decision',
]);

export const attempts = counter('forecue_work_attempts_total', 'Attempts at work, by their end.', [
  'kind',
  'end',
]);

/**
 * Counts by verdict. `orphaned` counts takeovers from dead workers. The others count attempts to end work, even failed
 * ones.
 */
export const repairs = counter(
  'forecue_work_repairs_total',
  'Pieces of work that the housekeeping took over or ended.',
  ['verdict'],
);
// Starts each series at 0, because Prometheus sees an increase only in a series that already exists.
for (const verdict of ['overdue', 'abandoned', 'detached', 'orphaned']) repairs.inc({ verdict }, 0);

export const webhookAttempts = counter('forecue_webhook_attempts_total', 'Attempts to call a webhook.', [
  'outcome',
]);
for (const outcome of ['delivered', 'failed']) webhookAttempts.inc({ outcome }, 0);

export const housekeepingFailures = counter(
  'forecue_housekeeping_failures_total',
  'Steps of the housekeeping that failed.',
  ['step'],
);

/**
 * Counts outcomes that callers waited for, by how the ingress found them: by a wake-up, or by the poll that replaces a
 * lost one. One that was merely late is not lost. Several callers of the same work count once.
 */
export const outcomesFound = counter(
  'forecue_outcomes_found_total',
  'Outcomes for waiting callers, by how they were found.',
  ['by'],
);

export const batchSizes = sizeHistogram('forecue_statement_batch_size', 'Items that shared a statement.', [
  'statement',
]);

const callersGauge = gauge(
  'forecue_callers_waiting',
  'Pieces of work whose end callers wait for at this ingress.',
);
const slotsGauge = gauge('forecue_slots', 'Slots of this worker.', ['pool']);
const heldSlotsGauge = gauge('forecue_slots_held', 'Slots of this worker that hold work.', ['pool']);

export function watchCallers(room: { readonly size: number }): { close(): void } {
  return onScrape(() => [[callersGauge, room.size]]);
}

interface PoolSlots {
  name: string;
  workerPool: { readonly slots: number; readonly free: number };
}

export function watchSlots(pools: readonly PoolSlots[]): { close(): void } {
  return onScrape(() =>
    pools.flatMap(({ name: pool, workerPool: { slots, free } }) => [
      [slotsGauge, slots, { pool }] as const,
      [heldSlotsGauge, slots - free, { pool }] as const,
    ]),
  );
}

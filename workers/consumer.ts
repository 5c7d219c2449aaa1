import type { Claim } from '../shared/db/stores/predictions/claim.ts';
import type { End, Ending } from '../shared/db/stores/predictions/end.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';
import { WORKER_MARGIN_MS } from '../shared/schemas/limits.ts';
import type { RunningAttempts } from './running.ts';

/** What a handler may spend: until the signal aborts, and `leftMs()` of it remain. */
export interface Allowance {
  signal: AbortSignal;
  leftMs(): number;
}

/** Performs one claimed prediction. It may reject with anything: the consumer ends the row all the same. */
export type Handler = (claim: Claim, allowance: Allowance) => Promise<End>;

export interface ConsumerSteps {
  claim(id: string): Promise<Claim | undefined>;
  end(ending: Ending): Promise<boolean>;
  perform: Handler;
  running: RunningAttempts;
  wakeUps: Pick<WakeUps, 'send'>;
  /** This process, whose lease its claims are under. */
  worker: string;
  log: Log;
}

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * Takes the ids of a job: claims those that are free, performs each, ends its row, wakes whoever waits. A job never
 * fails: what became of its ids stands in their rows.
 */
export function createConsumer(
  steps: ConsumerSteps,
): (payload: { ids: string[] }, done: () => void) => Promise<void> {
  return async ({ ids }, done) => {
    await Promise.all(ids.map((id) => consume(steps, id).finally(done)));
  };
}

async function consume(steps: ConsumerSteps, id: string): Promise<void> {
  const log = steps.log.child({ prediction: id });
  try {
    const claim = await steps.claim(id);
    if (claim !== undefined) await run(steps, claim, log);
  } catch (error) {
    log.warn({ err: error }, 'left to the reaper');
  }
}

async function run(steps: ConsumerSteps, claim: Claim, log: Log): Promise<void> {
  const { id, appId, month, attempt } = claim;
  const controller = steps.running.begin(claim);
  const budgetMs = claim.leftMs - WORKER_MARGIN_MS;
  const until = performance.now() + budgetMs;
  const timer = setTimeout(() => controller.abort(new OutOfTime()), Math.max(0, budgetMs));
  try {
    const allowance = { signal: controller.signal, leftMs: () => until - performance.now() };
    const outcome = await performed(steps.perform(claim, allowance), controller.signal, log);
    if (outcome === undefined) return;
    const ending = { id, appId, month, guard: 'attempt', attempt, worker: steps.worker, ...outcome } as const;
    const ended = await steps.end(ending);
    if (!ended) log.info({ attempt }, 'too late: the row was not this attempt’s any more');
    steps.wakeUps.send('ended', [id]);
  } finally {
    clearTimeout(timer);
    steps.running.finish(claim);
  }
}

/** What the row is to be told; nothing when it is no longer ours. */
async function performed(work: Promise<End>, signal: AbortSignal, log: Log): Promise<End | undefined> {
  try {
    return await Promise.race([work, rejection(signal)]);
  } catch (error) {
    if (signal.reason instanceof OutOfTime) return { state: 'failed', code: 'prediction_timeout' };
    if (signal.aborted) return undefined;
    log.error({ err: error }, 'defect in a handler');
    return { state: 'failed', code: 'internal_error', source: 'worker' };
  }
}

/** A handler that does not heed its signal holds nobody up. */
function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

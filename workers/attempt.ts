import { persistently } from '../shared/db/persistently.ts';
import type { Claim } from '../shared/db/stores/work/claim.ts';
import type { End } from '../shared/domain/work.ts';
import type { Log } from '../shared/log.ts';
import { WORKER_MARGIN_MS } from '../shared/schemas/limits.ts';
import type { Complete } from '../shared/work/completion.ts';
import type { Allowance } from './handler.ts';
import type { RunningAttempts } from './running.ts';

export interface AttemptSteps {
  perform(claim: Claim, allowance: Allowance): Promise<End>;
  complete: Complete;
  running: RunningAttempts;
  /** This process, whose lease its claims are under. */
  worker: string;
  log: Log;
}

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** One attempt at claimed work: performs it within its deadline and ends its row. Never rejects. */
export async function attemptWork(steps: AttemptSteps, claim: Claim): Promise<void> {
  const { id, party, month, attempt } = claim;
  const log = steps.log.child({ work: id, kind: claim.kind });
  const controller = steps.running.begin(claim);
  const until = performance.now() + claim.leftMs;
  const budgetMs = claim.leftMs - WORKER_MARGIN_MS;
  const timer = setTimeout(() => controller.abort(new OutOfTime()), Math.max(0, budgetMs));
  try {
    const allowance = {
      signal: controller.signal,
      leftMs: () => until - WORKER_MARGIN_MS - performance.now(),
    };
    const end = await performed(Promise.try(steps.perform, claim, allowance), controller.signal, log);
    if (end === undefined) return;
    const completion = { id, party, month, guard: 'attempt', attempt, worker: steps.worker, ...end } as const;
    // An answer that was paid for is not bought again because the database was down for a moment.
    const ended = await persistently(() => steps.complete(completion), until);
    if (!ended) log.info({ attempt }, 'too late: the row no longer belongs to this attempt');
  } catch (error) {
    log.warn({ err: error }, 'left to the leader');
  } finally {
    clearTimeout(timer);
    steps.running.finish(claim);
  }
}

/** How the work ends; undefined when it is no longer ours. */
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

/** A handler that ignores its signal holds nobody up. */
function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

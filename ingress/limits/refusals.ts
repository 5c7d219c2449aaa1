import type { Middleware } from 'koa';
import type { Pool } from 'pg';
import { isAnswerLost } from '../../shared/db/faults.ts';
import { addRefusals, type RefusalCount } from '../../shared/db/stores/refusals.ts';
import type { Log } from '../../shared/log.ts';
import { every } from '../../shared/timing/every.ts';
import type { RequestState } from '../request/context.ts';

const WRITE_EVERY_MS = 5000;
/** Maximum pairs of app and error code whose counts wait to be written. Refusals of further pairs are not counted. */
const COUNTS_MAX = 10_000;

/**
 * Counts refused calls by app and error code in memory, and writes the counts every few seconds, so that a flood of
 * refused calls causes few writes.
 */
export class RefusalCounter {
  readonly #counts = new Map<string, RefusalCount>();
  readonly #write: (counts: readonly RefusalCount[]) => Promise<void>;
  readonly #writing;

  constructor(write: (counts: readonly RefusalCount[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#writing = every(WRITE_EVERY_MS, () => this.flush(), { onError });
  }

  add(appId: string, code: string, calls = 1): void {
    const key = `${appId} ${code}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.calls += calls;
    else if (this.#counts.size < COUNTS_MAX) this.#counts.set(key, { appId, code, calls });
  }

  /**
   * Writes the counts. After a failure, keeps them for the next write, unless they may have been written: no refusal
   * must count twice.
   */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts.clear();
    try {
      await this.#write(counts);
    } catch (error) {
      if (!isAnswerLost(error)) for (const { appId, code, calls } of counts) this.add(appId, code, calls);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#writing.stop();
    await this.flush();
  }
}

/** A process that is killed loses the counts of its last seconds. */
export function openRefusalCounter(pool: Pool, log: Log): RefusalCounter {
  return new RefusalCounter(
    (counts) => addRefusals(pool, counts),
    (error) => log.warn({ err: error }, 'could not write the counts of refusals'),
  );
}

/**
 * Counts each app's calls that end with an error, except those whose caller left before the answer. Pages under
 * `/connect` also set `appId`, but a person's mistakes there do not count.
 */
export function countRefusals(refusals: Pick<RefusalCounter, 'add'>): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const { surface, appId, errorCode, signal } = ctx.state;
    if (surface !== 'v1' || appId === undefined || errorCode === undefined) return;
    if (!signal.aborted) refusals.add(appId, errorCode);
  };
}

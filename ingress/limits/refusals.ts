import type { Middleware } from 'koa';
import type { Pool } from 'pg';
import { isAnswerLost } from '../../shared/db/faults.ts';
import { addRefusals, type RefusalCount } from '../../shared/db/stores/refusals.ts';
import type { Log } from '../../shared/log.ts';
import { every } from '../../shared/timing/every.ts';
import type { RequestState } from '../http/request-context.ts';

const WRITE_EVERY_MS = 5000;
/**
 * Maximum number of counts, one per app and code, that are kept until they are written, also during an outage of the
 * database. While there are as many, a call with another app or code is not counted.
 */
const COUNTS_MAX = 10_000;

/**
 * Counts the calls of each app that end with an error, for `admin app list` and `show`. Writes the counts together:
 * even an app that floods costs the database only one row per code and hour, and one write every few seconds.
 */
export class RefusalCounter {
  readonly #counts = new Map<string, RefusalCount>();
  readonly #write: (counts: readonly RefusalCount[]) => Promise<void>;
  readonly #writing;

  constructor(write: (counts: readonly RefusalCount[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#writing = every(WRITE_EVERY_MS, () => this.flush(), { onError });
  }

  add(appId: string, code: string): void {
    const key = `${appId} ${code}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.calls += 1;
    else if (this.#counts.size < COUNTS_MAX) this.#counts.set(key, { appId, code, calls: 1 });
  }

  /** Writes the counts. If that fails, keeps them, unless they may have been written: no refusal may count twice. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts.clear();
    try {
      await this.#write(counts);
    } catch (error) {
      if (!isAnswerLost(error))
        for (const { appId, code, calls } of counts) this.#restore(appId, code, calls);
      throw error;
    }
  }

  #restore(appId: string, code: string, calls: number): void {
    this.add(appId, code);
    const restored = this.#counts.get(`${appId} ${code}`);
    if (restored !== undefined) restored.calls += calls - 1;
  }

  async close(): Promise<void> {
    await this.#writing.stop();
    await this.flush();
  }
}

/** Opens the counter of an ingress. A process that is killed loses the counts of its last seconds. */
export function openRefusalCounter(pool: Pool, log: Log): RefusalCounter {
  return new RefusalCounter(
    (counts) => addRefusals(pool, counts),
    (error) => log.warn({ err: error }, 'could not write the counts of refusals'),
  );
}

/**
 * Counts the calls of apps that end with an error. A person's mistakes on an app's consent page do not count, nor calls
 * whose caller left before the answer: nothing was refused to it, and its prediction may run on.
 */
export function countRefusals(refusals: Pick<RefusalCounter, 'add'>): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const { surface, appId, errorCode, signal } = ctx.state;
    if (surface !== 'v1' || appId === undefined || errorCode === undefined) return;
    if (!signal.aborted) refusals.add(appId, errorCode);
  };
}

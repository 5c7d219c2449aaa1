import type { Middleware } from 'koa';
import type { Pool } from 'pg';
import { PendingCounts } from '../../shared/db/pending-counts.ts';
import { addRefusals, type RefusalCount } from '../../shared/db/stores/refusals.ts';
import type { Log } from '../../shared/log.ts';
import type { RequestState } from '../request/context.ts';

/** Counts refused calls by app and error code in memory, so that a flood of refused calls causes few writes. */
export class RefusalCounter {
  readonly #counts: PendingCounts<RefusalCount>;

  constructor(write: (counts: readonly RefusalCount[]) => Promise<void>, onError: (error: unknown) => void) {
    const merge = (into: RefusalCount, { calls }: RefusalCount) => {
      into.calls += calls;
    };
    const keyOf = ({ appId, code }: RefusalCount) => `${appId} ${code}`;
    this.#counts = new PendingCounts({ write, merge, keyOf }, onError);
  }

  add(appId: string, code: string, calls = 1): void {
    this.#counts.add({ appId, code, calls });
  }

  flush(): Promise<void> {
    return this.#counts.flush();
  }

  close(): Promise<void> {
    return this.#counts.close();
  }
}

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

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission } from '../../shared/db/stores/work/admit.ts';
import type { Completion, Subject } from '../../shared/db/stores/work/complete.ts';
import { isEnded, type Outcome } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { backoffMs } from '../../shared/retry.ts';
import type { Kind } from '../../shared/work/kind.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** How soon the database is asked again whether a deadline is over. */
const ASK_AGAIN = { firstMs: 50, longestMs: 1000 };

export type Request = Pick<Admission, 'kind' | 'party' | 'key'>;

export interface EndingSteps {
  complete(completion: Completion): Promise<boolean>;
  /** A request by its key. */
  find(key: string): Promise<Outcome | undefined>;
  /** Whether the party is an account that has been erased since its admission. */
  isErased(party: string): Promise<boolean>;
  codes(kind: string): Kind['codes'];
  /** Where its callers wait. */
  room: Pick<WaitingRoom, 'wake'>;
}

/** Reads and ends its callers' work without a worker. */
export class Endings {
  readonly #steps: EndingSteps;

  constructor(steps: EndingSteps) {
    this.#steps = steps;
  }

  /** The row of a request that was admitted. */
  async find(request: Request): Promise<Outcome> {
    const found = await this.#steps.find(request.key);
    return found ?? this.lost(request);
  }

  /** Throws why a request that was admitted is in no table any more. */
  async lost({ party }: Pick<Request, 'party'>): Promise<never> {
    // A failover may lose the latest commits.
    throw new AppError((await this.#steps.isErased(party)) ? 'not_authenticated' : 'service_unavailable');
  }

  /**
   * Ends work whose deadline has passed, unless it has ended before: whoever waits for it hears of either. Asks again and
   * again until the caller has left, since the database's clock decides: by ours it may still have a moment, or an hour
   * if that clock has gone back.
   */
  async expire(request: Request, left: AbortSignal): Promise<void> {
    const code = this.#steps.codes(request.kind).timeout;
    const found = await this.find(request);
    const overdue = { ...subjectOf(found), guard: 'overdue', state: 'failed', code } as const;
    for (let tries = 1; !left.aborted; tries += 1) {
      if (isEnded(found) || !(await this.#steps.complete(overdue))) this.#steps.room.wake([found.id]);
      await sleep(backoffMs(tries, ASK_AGAIN), undefined, { signal: left }).catch(() => {});
    }
  }

  /** Cancels work of a kind, unless it has ended before. */
  async cancel(kind: string, live: Subject): Promise<void> {
    const code = this.#steps.codes(kind).cancelled;
    const end = { guard: 'live', state: 'cancelled', code } as const;
    await this.#steps.complete({ ...subjectOf(live), ...end });
  }
}

function subjectOf({ id, party, month }: Subject): Subject {
  return { id, party, month };
}

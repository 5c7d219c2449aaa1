import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission } from '../../shared/db/stores/work/admit.ts';
import type { Completion, Subject } from '../../shared/db/stores/work/complete.ts';
import { isEnded, type Outcome } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Kind } from '../../shared/work/kind.ts';

/** How soon the database is asked again whether a deadline is over. */
const CLOCK_GRACE_MS = 50;

export type Request = Pick<Admission, 'kind' | 'party' | 'key'>;

export interface EndingSteps {
  complete(completion: Completion): Promise<boolean>;
  /** A request by its key. */
  find(key: string): Promise<Outcome | undefined>;
  /** Whether the party is an account that has been erased since its admission. */
  isErased(party: string): Promise<boolean>;
  codes(kind: string): Kind['codes'];
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

  /** Ends work whose deadline has passed, unless it has ended before. Resolves with how it ended. */
  async expire(request: Request): Promise<Outcome> {
    const code = this.#steps.codes(request.kind).timeout;
    const end = { guard: 'overdue', state: 'failed', code } as const;
    for (;;) {
      const found = await this.find(request);
      if (isEnded(found)) return found;
      // The database's clock decides; by ours it may still have a moment.
      if (!(await this.#steps.complete({ ...subjectOf(found), ...end }))) await sleep(CLOCK_GRACE_MS);
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

import { ConcurrencyLimiter, type Permit } from '../../shared/concurrency-limiter.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';

/** Bytes of answers held at once by this process, and for one party. */
const HELD = { atOnce: 64 * MIB, each: 16 * MIB };
/** How long an answer waits for room. It is not read from the database meanwhile, so it costs no more than its connection. */
const WAIT_MS = 5000;
/** Bytes of each answer that are free: they fit into the buffers of its connection, whether or not the client reads. */
export const UNCOUNTED = 16 * KIB;

/**
 * Sets the room that an answer holds to this many bytes, before they are read. Less than it holds is given back at once;
 * more is waited for while it holds nothing, so that answers cannot deadlock. Throws `overloaded`.
 */
export type Reserve = (bytes: number) => Promise<void>;

/** One answer's share of the budget. */
export interface AnswerShare {
  reserve: Reserve;
  /** Gives back what is held beyond the rendered answer's bytes. */
  settle(bytes: number): void;
  free(): void;
}

/** Limits the memory that large answers take until their clients have read them, in total and per party. */
export class AnswerBudget {
  readonly #held = new ConcurrencyLimiter(HELD);

  /** Opens an empty share. `gone` is aborted when the caller disconnects. */
  open(party: string, gone: AbortSignal): AnswerShare {
    let permit: Permit | undefined;
    let held = 0;
    const free = () => {
      permit?.release();
      permit = undefined;
      held = 0;
    };
    const settle = (bytes: number) => {
      const left = Math.min(held, weightOf(bytes));
      permit?.shrink(held - left);
      held = left;
    };
    return {
      reserve: async (bytes) => {
        const wanted = weightOf(bytes);
        if (wanted <= held) return settle(bytes);
        free();
        permit = await this.#acquire(party, wanted, gone);
        held = wanted;
      },
      settle,
      free,
    };
  }

  async #acquire(party: string, weight: number, gone: AbortSignal): Promise<Permit> {
    const tooLong = AbortSignal.timeout(WAIT_MS);
    const permit = await this.#held.acquire({ party, weight, gone: AbortSignal.any([gone, tooLong]) });
    if (!gone.aborted) return permit;
    permit.release();
    throw new AppError('overloaded');
  }
}

/** What is larger than a party's share has that share to itself. */
function weightOf(bytes: number): number {
  return bytes <= UNCOUNTED ? 0 : Math.min(bytes, HELD.each);
}

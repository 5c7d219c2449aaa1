import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';

/** Bytes that one party may hold: one body of the largest limit. */
const PARTY_MAX = 16 * MIB;
/** Bytes of answers that this process may hold. */
const ANSWERS_MAX = 64 * MIB;
/** Bytes of each body and answer that are free: the buffers of a connection take as much in any case. */
export const UNCOUNTED = 16 * KIB;
/** Time that a body or an answer waits for room. It is not read meanwhile, so it costs no more than its connection. */
const BODY_WAIT_MS = 2000;
const ANSWER_WAIT_MS = 5000;

/** One body's share of the budget. */
export interface BodyShare {
  /**
   * Grows the share to this many bytes. Waits only while it holds nothing, so that bodies of unknown size cannot
   * deadlock. Throws `overloaded`, also once it is free.
   */
  reserve(bytes: number): Promise<void>;
  free(): void;
}

/** Limits the memory that request bodies take: `atOnce` bytes, unpacked, in total, and a share of each party. */
export class BodyBudget {
  readonly #held: ConcurrencyLimiter;

  constructor(atOnce: number) {
    this.#held = new ConcurrencyLimiter({ atOnce, each: PARTY_MAX });
  }

  /** Opens an empty share. `gone` is aborted when the sender disconnects. */
  open(party: string, gone: AbortSignal): BodyShare {
    let permit: Permit | undefined;
    let counted = 0;
    let isFree = false;
    return {
      reserve: async (bytes) => {
        const more = bytes - UNCOUNTED - counted;
        if (more <= 0) return;
        // A body that was given up as too slow may still have a chunk on its way.
        if (isFree) throw new AppError('overloaded');
        if (permit === undefined) {
          permit = await this.#held.acquire({ party, weight: more, gone, waitMs: BODY_WAIT_MS });
          if (isFree) permit.release();
        } else if (!permit.grow(more)) throw new AppError('overloaded');
        counted += more;
      },
      free: () => {
        isFree = true;
        permit?.release();
      },
    };
  }
}

/**
 * Sets the room that an answer holds to this many bytes, before they are read. Returns room at once; waits for more only
 * while it holds nothing, so that answers cannot deadlock. Throws `overloaded`.
 */
export type Reserve = (bytes: number) => Promise<void>;

/** One answer's share of the budget. */
interface AnswerShare {
  reserve: Reserve;
  /** Returns the room beyond the rendered answer's bytes. */
  settle(bytes: number): void;
  free(): void;
}

/** Limits the memory that large answers take until their clients have read them, in total and per party. */
export class AnswerBudget {
  readonly #held = new ConcurrencyLimiter({ atOnce: ANSWERS_MAX, each: PARTY_MAX });

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
    const reserve = async (bytes: number) => {
      const weight = weightOf(bytes);
      if (weight <= held) return settle(bytes);
      free();
      permit = await this.#held.acquire({ party, weight, gone, waitMs: ANSWER_WAIT_MS });
      held = weight;
      if (!gone.aborted) return;
      // The share was freed when the caller left, before this permit came.
      free();
      throw new AppError('overloaded');
    };
    return { reserve, settle, free };
  }
}

/** An answer larger than a party's share takes all of that share. */
function weightOf(bytes: number): number {
  return bytes <= UNCOUNTED ? 0 : Math.min(bytes, PARTY_MAX);
}

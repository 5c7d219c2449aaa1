import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';

/** Maximum bytes that one party may hold: the largest body that any endpoint accepts. */
const PARTY_BYTES_MAX = 16 * MIB;
const ANSWER_BYTES_MAX = 64 * MIB;
/** The first bytes of a body, and answers up to this size, are not counted: the socket buffers take as much anyway. */
export const UNCOUNTED_BYTES = 16 * KIB;
/** Maximum wait for memory. A waiting body or answer occupies none, because it is read only after the wait. */
const BODY_WAIT_MS = 2000;
const ANSWER_WAIT_MS = 5000;

export interface BodyShare {
  /**
   * Grows the share to this many bytes in all. Waits for room only while the share is empty, so that bodies of
   * unknown size cannot deadlock. Throws `overloaded` when there is no room, or after `free`.
   */
  reserve(bytes: number): Promise<void>;
  free(): void;
}

/** Limits the memory of unpacked request bodies, in total and per party. */
export class BodyBudget {
  readonly #limiter: ConcurrencyLimiter;

  constructor(capacity: number) {
    this.#limiter = new ConcurrencyLimiter({ capacity, maxPerParty: PARTY_BYTES_MAX });
  }

  open(party: string, gone: AbortSignal): BodyShare {
    let permit: Permit | undefined;
    let countedBytes = 0;
    let isFree = false;
    return {
      reserve: async (bytes) => {
        const extraBytes = bytes - UNCOUNTED_BYTES - countedBytes;
        if (extraBytes <= 0) return;
        // A chunk may still arrive after the request was refused as too slow.
        if (isFree) throw new AppError('overloaded');
        if (permit === undefined) {
          permit = await this.#limiter.acquire({ party, weight: extraBytes, gone, waitMs: BODY_WAIT_MS });
          if (isFree) permit.release();
        } else if (!permit.grow(extraBytes)) throw new AppError('overloaded');
        countedBytes += extraBytes;
      },
      free: () => {
        isFree = true;
        permit?.release();
      },
    };
  }
}

/**
 * Sets the memory reserved for an answer. Call it before the answer's data is read from the database. To grow, frees
 * what is reserved and waits for the whole, so that answers cannot deadlock. Throws `overloaded` when there is no room
 * in time.
 */
export type ReserveAnswerMemory = (bytes: number) => Promise<void>;

interface AnswerShare {
  reserve: ReserveAnswerMemory;
  /** Shrinks a larger share to the size of the rendered answer. */
  shrinkTo(bytes: number): void;
  free(): void;
}

/** Limits the memory of large answers until their clients have read them, in total and per party. */
export class AnswerBudget {
  readonly #limiter = new ConcurrencyLimiter({ capacity: ANSWER_BYTES_MAX, maxPerParty: PARTY_BYTES_MAX });

  open(party: string, gone: AbortSignal): AnswerShare {
    let permit: Permit | undefined;
    let heldBytes = 0;
    const free = () => {
      permit?.release();
      permit = undefined;
      heldBytes = 0;
    };
    const shrinkTo = (bytes: number) => {
      const left = Math.min(heldBytes, weightOf(bytes));
      permit?.shrink(heldBytes - left);
      heldBytes = left;
    };
    const reserve = async (bytes: number) => {
      const weight = weightOf(bytes);
      if (weight <= heldBytes) return shrinkTo(bytes);
      free();
      permit = await this.#limiter.acquire({ party, weight, gone, waitMs: ANSWER_WAIT_MS });
      heldBytes = weight;
      if (!gone.aborted) return;
      // The caller disconnected while this call waited, so `free` has already run, without this permit.
      free();
      throw new AppError('overloaded');
    };
    return { reserve, shrinkTo, free };
  }
}

/** Returns the number of bytes to count. An answer larger than `PARTY_BYTES_MAX` counts as `PARTY_BYTES_MAX`. */
function weightOf(bytes: number): number {
  return bytes <= UNCOUNTED_BYTES ? 0 : Math.min(bytes, PARTY_BYTES_MAX);
}

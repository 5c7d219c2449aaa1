import { ConcurrencyLimiter, type Permit } from '../../shared/concurrency-limiter.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';

/** Bytes of unpacked bodies held at once for one party: enough for one body of the largest limit. */
const EACH = 16 * MIB;
/** How long a body waits for room. It is not read meanwhile, so it costs no more than its connection. */
const WAIT_MS = 2000;
/** Bytes of each body that are free: a connection costs as much anyway, and ordinary calls need no room. */
export const UNCOUNTED = 16 * KIB;

/** One body's share of the budget. */
export interface BodyShare {
  /**
   * Grows the share to this many bytes. Waits only while it holds nothing, so that bodies of unknown size cannot
   * deadlock. Throws `overloaded`.
   */
  reserve(bytes: number): Promise<void>;
  free(): void;
}

/** Limits the memory that request bodies take: `atOnce` bytes, unpacked, in total, and a share of each party. */
export class BodyBudget {
  readonly #held: ConcurrencyLimiter;

  constructor(atOnce: number) {
    this.#held = new ConcurrencyLimiter({ atOnce, each: EACH });
  }

  /** Opens an empty share. `gone` is aborted when the sender disconnects. */
  open(party: string, gone: AbortSignal): BodyShare {
    let permit: Permit | undefined;
    let counted = 0;
    return {
      reserve: async (bytes) => {
        const more = bytes - UNCOUNTED - counted;
        if (more <= 0) return;
        if (permit === undefined) permit = await this.#acquire(party, more, gone);
        else if (!permit.grow(more)) throw new AppError('overloaded');
        counted += more;
      },
      free: () => permit?.release(),
    };
  }

  #acquire(party: string, weight: number, gone: AbortSignal): Promise<Permit> {
    const tooLong = AbortSignal.timeout(WAIT_MS);
    return this.#held.acquire({ party, weight, gone: AbortSignal.any([gone, tooLong]) });
  }
}

import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import { Lane, type Place } from '../lane.ts';

/** Bytes of bodies, unpacked, that this process holds at once, and those of one party: a body of the largest limit. */
const HELD = { atOnce: 64 * MIB, each: 16 * MIB };
/** How long a body waits for room. Nothing of it is read meanwhile: it costs no more than its connection. */
const WAIT_MS = 2000;
/** What is not counted of each body: a connection costs as much, and ordinary calls need no room. */
export const UNCOUNTED = 16 * KIB;

/** What one body holds of the budget. */
export interface BodyShare {
  /**
   * Makes room for so many bytes in all. Waits for it only while nothing is held, so that bodies whose size nobody
   * knows never wait for each other. Throws `overloaded`.
   */
  reserve(bytes: number): Promise<void>;
  free(): void;
}

/** What the bodies that a process holds may take of its memory, all of them and those of each party. */
export class BodyBudget {
  readonly #held = new Lane(HELD);

  /** A body's share, which is nothing yet. `gone` is aborted when its sender is. */
  open(party: string, gone: AbortSignal): BodyShare {
    let place: Place | undefined;
    let counted = 0;
    return {
      reserve: async (bytes) => {
        const more = bytes - UNCOUNTED - counted;
        if (more <= 0) return;
        if (place === undefined) place = await this.#enter(party, more, gone);
        else if (!place.grow(more)) throw new AppError('overloaded');
        counted += more;
      },
      free: () => place?.leave(),
    };
  }

  #enter(party: string, weight: number, gone: AbortSignal): Promise<Place> {
    const tooLong = AbortSignal.timeout(WAIT_MS);
    return this.#held.enter({ party, weight, gone: AbortSignal.any([gone, tooLong]) });
  }
}

import type { Pool } from 'pg';
import { queuedFlows } from '../../shared/db/stores/work/claim.ts';
import { every, type Repeated } from '../../shared/every.ts';
import type { Log } from '../../shared/log.ts';
import type { WorkerPool } from './pool.ts';

const LOOK_EVERY_MS = 1000;

/**
 * Looks for queued work that this process has not heard of, once a second and whenever a ticket arrives: wake-ups may be lost.
 */
export class Looks {
  readonly #pool: Pool;
  readonly #slots: readonly WorkerPool[];
  readonly #looks: Repeated;
  #looking: Promise<void> | undefined;
  #answeredAt = performance.now();

  constructor(pool: Pool, slots: readonly WorkerPool[], log: Log) {
    this.#pool = pool;
    this.#slots = slots;
    const onError = (error: unknown) => log.warn({ err: error }, 'could not look for queued work');
    this.#looks = every(LOOK_EVERY_MS, () => this.look(), { onError });
  }

  /** Milliseconds since the latest look was answered. */
  get silentMs(): number {
    return performance.now() - this.#answeredAt;
  }

  /** Looks now; callers that come while a look is under way share it. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  close(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    const kinds = this.#slots.flatMap((slots) => slots.kinds);
    const flows = kinds.length === 0 ? [] : await queuedFlows(this.#pool, kinds);
    this.#answeredAt = performance.now();
    for (const slots of this.#slots) slots.lookedAt(flows);
  }
}

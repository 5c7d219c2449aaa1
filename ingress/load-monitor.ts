import { LoadEstimate, type QueueSnapshot } from '../shared/domain/load.ts';
import type { Log } from '../shared/log.ts';

const LOOK_EVERY_MS = 200;
/** An idle ingress looks once in so many times: enough to know whether there is a worker. */
const IDLE_LOOKS = 5;
/** The share of a deadline that may be spent by estimate: what is accepted is to be answered, so the rest is for errors. */
const SPENDABLE = 0.7;

/**
 * Reads the snapshot of the queue, and says when new work would wait so long that its answer came too late: five times a
 * second while somebody here waits or might be refused, else once a second.
 */
export class LoadMonitor {
  readonly #estimate = new LoadEstimate();
  readonly #read: () => Promise<Omit<QueueSnapshot, 'at'> | undefined>;
  readonly #deadlineMs: number;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  /** `read` resolves with undefined while no snapshot was published yet. */
  constructor(
    read: () => Promise<Omit<QueueSnapshot, 'at'> | undefined>,
    isBusy: () => boolean,
    { deadlineMs, log }: { deadlineMs: number; log: Log },
  ) {
    this.#read = read;
    this.#deadlineMs = deadlineMs;
    this.#log = log;
    let skipped = 0;
    this.#timer = setInterval(() => {
      skipped += 1;
      if (skipped < IDLE_LOOKS && !isBusy() && !this.#estimate.isStrained) return;
      skipped = 0;
      void this.look();
    }, LOOK_EVERY_MS);
  }

  /** Looks at the queue now. An ingress does so before it serves, so that its first caller need not wait in vain. */
  look(): Promise<void> {
    this.#looking ??= this.#observe().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  admitted(party: string): void {
    this.#estimate.joined(party);
  }

  served(providerMs: number | null): void {
    if (providerMs !== null) this.#estimate.served(providerMs);
  }

  /** Seconds after which new work of the party could be answered in time; undefined when it can be now. */
  retryAfterS(party: string): number | undefined {
    const excessMs = this.#estimate.answerMs(party, performance.now()) - SPENDABLE * this.#deadlineMs;
    return excessMs > 0 ? Math.max(1, Math.ceil(Math.min(excessMs, this.#deadlineMs) / 1000)) : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #observe(): Promise<void> {
    try {
      const snapshot = await this.#read();
      if (snapshot !== undefined) this.#estimate.observe({ at: performance.now(), ...snapshot });
    } catch (error) {
      this.#log.warn({ err: error }, 'could not look at the queue');
    }
  }
}

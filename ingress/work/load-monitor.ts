import { LoadEstimate, type QueueSnapshot } from '../../shared/domain/load.ts';
import { every, type Repeated } from '../../shared/every.ts';
import type { Log } from '../../shared/log.ts';

const LOOK_EVERY_MS = 200;
/** An idle ingress looks only every so many times: enough to know whether there is a worker. */
const IDLE_LOOKS = 5;
/** The share of a deadline that the estimate may fill; the rest is its margin of error, since accepted work must be answered. */
const SPENDABLE = 0.7;

/**
 * Reads the queue's snapshot and decides when to shed load: when new work would wait so long that its answer came too
 * late. Looks five times a second while callers wait here or might be refused, else once a second.
 */
export class LoadMonitor {
  readonly #estimate = new LoadEstimate();
  readonly #read: () => Promise<Omit<QueueSnapshot, 'at'> | undefined>;
  readonly #deadlineMs: number;
  readonly #log: Log;
  readonly #looks: Repeated;
  #looking: Promise<void> | undefined;
  #queuedMs = 0;

  /** `read` resolves with undefined until the first snapshot is published. */
  constructor(
    read: () => Promise<Omit<QueueSnapshot, 'at'> | undefined>,
    isBusy: () => boolean,
    { deadlineMs, log }: { deadlineMs: number; log: Log },
  ) {
    this.#read = read;
    this.#deadlineMs = deadlineMs;
    this.#log = log;
    let skipped = 0;
    this.#looks = every(LOOK_EVERY_MS, async () => {
      skipped += 1;
      if (skipped < IDLE_LOOKS && !isBusy() && !this.#estimate.isStrained) return;
      skipped = 0;
      await this.look();
    });
  }

  /** Looks at the queue now. An ingress does so before it serves, so that its first caller does not wait in vain. */
  look(): Promise<void> {
    this.#looking ??= this.#observe().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  admitted(party: string): void {
    this.#estimate.joined(party);
  }

  /** Work that a handler has ended took `ms`, of which it was queued for `queuedMs`. */
  served(ms: number, queuedMs: number): void {
    this.#queuedMs = queuedMs;
    this.#estimate.served(ms - queuedMs);
  }

  /** Milliseconds for which the work that ended last was queued. */
  get queuedMs(): number {
    return this.#queuedMs;
  }

  /** Seconds after which new work of the party could be answered in time; undefined when it can be now. */
  retryAfterS(party: string): number | undefined {
    const excessMs = this.#estimate.answerMs(party, performance.now()) - SPENDABLE * this.#deadlineMs;
    return excessMs > 0 ? Math.max(1, Math.ceil(Math.min(excessMs, this.#deadlineMs) / 1000)) : undefined;
  }

  /** Does not wait for a look under way: the database may not answer it. */
  close(): void {
    void this.#looks.stop();
  }

  async #observe(): Promise<void> {
    try {
      const snapshot = await this.#read();
      if (snapshot !== undefined) this.#estimate.observe({ at: performance.now(), ...snapshot });
    } catch (error) {
      this.#log.warn({ err: error }, "could not read the queue's snapshot");
    }
  }
}

import { LoadEstimate, type QueueSnapshot } from '../shared/domain/load.ts';
import type { Log } from '../shared/log.ts';

const LOOK_EVERY_MS = 200;
/** The share of a deadline that may be spent by estimate: what is accepted is to be answered, so the rest is for errors. */
const SPENDABLE = 0.7;

/**
 * Watches the queue, and says when a new prediction would wait so long that its answer came too late. It looks while
 * somebody here waits, and until the queue that it saw is gone: an idle ingress asks nothing.
 */
export class LoadMonitor {
  readonly #estimate = new LoadEstimate();
  readonly #deadlineMs: number;
  readonly #timer: NodeJS.Timeout;
  #looking = false;

  constructor(
    read: () => Promise<Omit<QueueSnapshot, 'at'>>,
    isBusy: () => boolean,
    { deadlineMs, log }: { deadlineMs: number; log: Log },
  ) {
    this.#deadlineMs = deadlineMs;
    this.#timer = setInterval(async () => {
      if (this.#looking || !(isBusy() || this.#estimate.hasQueue)) return;
      this.#looking = true;
      try {
        this.#estimate.observe({ at: performance.now(), ...(await read()) });
      } catch (error) {
        log.warn({ err: error }, 'could not look at the queue');
      } finally {
        this.#looking = false;
      }
    }, LOOK_EVERY_MS);
  }

  admitted(appId: string): void {
    this.#estimate.joined(appId);
  }

  queueAway(): void {
    this.#estimate.forget();
  }

  served(providerMs: number | null): void {
    if (providerMs !== null) this.#estimate.served(providerMs);
  }

  /** Seconds after which a new prediction of the app could be answered in time; undefined when it can be now. */
  retryAfterS(appId: string): number | undefined {
    const excessMs = this.#estimate.answerMs(appId) - SPENDABLE * this.#deadlineMs;
    return excessMs > 0 ? Math.max(1, Math.ceil(excessMs / 1000)) : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BackendFactory,
  type IQueueBackend,
  type Job,
  WaitingError,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { every, type Repeated } from '../every.ts';
import type { Log } from '../log.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import type { TicketWorker } from './queues.ts';
import type { Ticket } from './ticket-queue.ts';

/** How often an idle worker polls the queue: a notification may be lost. */
const LOOK_AGAIN_S = 1;
/**
 * How soon a worker retries after its store refused the connection. BullMQ's own 15 s would outlast the deadlines of
 * everything admitted meanwhile.
 */
const ASK_AGAIN_MS = 500;
/** Five polls missed. BullMQ recovers from most faults by itself; a worker that does not is replaced. */
const REPLACE_AFTER_MS = 5000;
const WATCH_EVERY_MS = 500;

/** What a worker is made of; `release` closes what its backend does not own. */
export interface Consumer<C> {
  options: Omit<WorkerOptions<C>, 'concurrency'>;
  release(): void;
}

/** A BullMQ worker that reports every answered fetch, whether there was a ticket or not. */
class FetchingWorker<B extends IQueueBackend, C> extends Worker<Ticket, void, string, B, never, C> {
  onFetched = () => {};

  /** BullMQ passes every answer to this private method: those of its fetches, and those that come with a completion. */
  protected override nextJobFromJobData(...answer: Parameters<Worker['nextJobFromJobData']>) {
    this.onFetched();
    return super.nextJobFromJobData(...answer);
  }
}

/**
 * Takes tickets with one BullMQ worker at a time, and replaces that worker when no fetch has completed for 5 s: it does
 * not recover from every silent connection, and `isRunning` does not report that.
 */
export class ReplacedWorker<B extends IQueueBackend, C> implements TicketWorker {
  readonly #open: () => OpenWorker<B, C>;
  readonly #take: () => Promise<void>;
  readonly #log: Log;
  readonly #watch: Repeated;
  readonly #closing = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined;
  #worker: OpenWorker<B, C>;
  #inHand = 0;
  /** The last `take`. A replaced worker may still have one in hand. */
  #taking: Promise<void> = Promise.resolve();
  #fetchedAt = performance.now();
  #openedAt = performance.now();

  constructor(
    name: string,
    take: () => Promise<void>,
    { factory, consumer, log }: { factory: BackendFactory<B, C>; consumer: () => Consumer<C>; log: Log },
  ) {
    this.#take = take;
    this.#log = log.child({ queue: name });
    this.#open = () => {
      const { options, release } = consumer();
      const pace = { concurrency: 1, drainDelay: LOOK_AGAIN_S, runRetryDelay: ASK_AGAIN_MS };
      const worker = new FetchingWorker<B, C>(
        name,
        (job, token) => this.#perform(job, token),
        { ...options, ...pace },
        factory,
      );
      worker.onFetched = () => {
        this.#fetchedAt = performance.now();
      };
      worker.on('error', (error) => this.#log.warn({ err: error }, 'worker connection'));
      worker.on('failed', (job, error) => this.#log.error({ err: error, job: job?.id }, 'ticket failed'));
      return { worker, release };
    };
    this.#worker = this.#open();
    this.#watch = every(WATCH_EVERY_MS, () => this.#replaceIfSilent());
  }

  get silentMs(): number {
    return this.#inHand > 0 ? 0 : performance.now() - this.#fetchedAt;
  }

  close(): Promise<void> {
    void this.#watch.stop();
    this.#closing.resolve();
    this.#closed ??= closeInTime(this.#worker);
    return this.#closed;
  }

  async #perform(job: Job<Ticket>, token = ''): Promise<void> {
    if (this.#closed !== undefined) {
      // Fetched while this process was stopping: another process can use it.
      await job.moveToWait(token);
      throw new WaitingError();
    }
    this.#inHand += 1;
    const taken = this.#taking.then(this.#take);
    this.#taking = taken.catch(() => {});
    try {
      await Promise.race([taken, this.#closing.promise]);
    } finally {
      this.#inHand -= 1;
      this.#fetchedAt = performance.now();
    }
  }

  #replaceIfSilent(): void {
    const openMs = performance.now() - this.#openedAt;
    if (Math.min(this.silentMs, openMs) < REPLACE_AFTER_MS) return;
    this.#log.warn(
      { silentMs: Math.round(this.silentMs) },
      'the queue does not answer: replacing its worker',
    );
    void closeInTime(this.#worker, { force: true });
    this.#openedAt = performance.now();
    this.#worker = this.#open();
  }
}

interface OpenWorker<B extends IQueueBackend, C> {
  worker: FetchingWorker<B, C>;
  release(): void;
}

/** BullMQ's own close waits for a store that may never answer. */
async function closeInTime<B extends IQueueBackend, C>(
  { worker, release }: OpenWorker<B, C>,
  { force = false } = {},
): Promise<void> {
  await Promise.race([worker.close(force), sleep(STOP_LIMITS.queue, undefined, { ref: false })]).catch(
    () => {},
  );
  release();
}

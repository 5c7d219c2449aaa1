import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { BaseConfig } from '../config/config.ts';
import type { RedisTarget } from '../config/values.ts';
import type { Log } from '../log.ts';
import { STOP_LIMITS } from '../process/stop-limits.ts';
import { Coalescer } from '../timing/coalesce.ts';
import { withTimeout } from '../timing/within.ts';
import { postgresStore } from './postgres-store.ts';
import {
  assertTakesWrites,
  connectRedis,
  type RedisClient,
  readMemory,
  SAFE_EVICTION_POLICY,
} from './redis.ts';

const TICKET_EVERY_MS = 200;
const TICKET_IDS_MAX = 200;
/** A queue has at most one ticket, waiting or taken: it stands for all queued work. BullMQ's retries are not needed. */
const TICKET_OPTIONS = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  deduplication: { id: 'ticket' },
};
/**
 * An idle worker waits for a ticket for ten seconds at a time, and retries half a second after a refused connection.
 */
const WORKER_PACE = { concurrency: 1, drainDelay: 10, runRetryDelay: 500 };
/**
 * A ticket that a worker has not finished after this time goes to another worker. Handling a ticket takes no time, so
 * the first worker must be lost.
 */
const TICKET_TIMEOUTS = { lockDuration: 10_000, stalledInterval: 10_000, skipLockRenewal: true };

/**
 * The queue of one worker pool. Its tickets only say that there is work. A ticket may be lost, late or doubled, because
 * workers also look for work once a second.
 */
export interface TicketQueue {
  /**
   * Adds a ticket without waiting, and never throws. Calls within 200 ms share a ticket. Call it after the commit of
   * the rows with these ids. The ids only help people who inspect the queue.
   */
  add(ids: readonly string[]): void;
}

export interface TicketWorker {
  /** Resolves within `STOP_LIMITS.queue`. */
  close(): Promise<void>;
}

export interface Queues {
  queue(name: string): TicketQueue;
  /** Calls `take` for each ticket, one at a time. */
  worker(name: string, take: () => Promise<void>): TicketWorker;
  /** Rejects unless the store answers and takes tickets. */
  ping(): Promise<void>;
  /** Resolves within twice `STOP_LIMITS.queue`, even if the store is down. */
  close(): Promise<void>;
}

export async function openQueues(
  config: Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>,
  log: Log,
): Promise<Queues> {
  return config.redis === undefined
    ? queuesOn(postgresStore(config, log), log)
    : queuesOn(await redisStore(config.redis, config.queuePrefix, log), log);
}

/** BullMQ must not close these connections; only `close` does. */
interface Store<B extends IQueueBackend, C> {
  factory: BackendFactory<B, C>;
  producer: QueueOptions<C>;
  /** Called once for each worker. */
  consumer(): Omit<WorkerOptions<C>, 'concurrency'>;
  ping(): Promise<unknown>;
  close(): Promise<unknown>;
}

const FIRST_CONNECTION_MS = 2000;

/** The prefix is a hash tag, so that a cluster keeps all keys of the queues in one slot. */
async function redisStore(target: RedisTarget, queuePrefix: string, log: Log) {
  const producer = connectRedis(target, 'producer', log);
  producer.on('ready', () => void warnOfEviction(producer, log));
  const options = { prefix: `{${queuePrefix}}`, skipVersionCheck: true };
  let consumer: RedisClient | undefined;
  // Redis is usually ready at once. If not, the process starts anyway, and becomes ready when Redis does.
  await withTimeout(
    FIRST_CONNECTION_MS,
    () => new Promise((resolve) => producer.once('ready', resolve)),
  ).catch(() => {});
  return {
    factory: createRedisBackend,
    producer: { connection: producer, ...options },
    consumer() {
      consumer ??= connectRedis(target, 'consumer', log);
      return { connection: consumer, ...options };
    },
    ping: () => assertTakesWrites(producer),
    async close() {
      producer.disconnect();
      consumer?.disconnect();
    },
  };
}

/** If Redis evicts keys, tickets are lost silently. */
async function warnOfEviction(client: RedisClient, log: Log): Promise<void> {
  const policy = (await readMemory(client).catch(() => undefined))?.policy;
  if (policy === undefined || policy === SAFE_EVICTION_POLICY) return;
  log.error({ policy }, `Redis may drop jobs: set its maxmemory-policy to ${SAFE_EVICTION_POLICY}`);
}

function queuesOn<B extends IQueueBackend, C>(
  { factory, producer, consumer, ping, close }: Store<B, C>,
  log: Log,
): Queues {
  const queues = new Map<string, TicketAdder<B, C>>();
  const workers = new Set<Worker<Ticket, void, string, B, never, C>>();
  return {
    queue(name) {
      const adder = queues.get(name) ?? new TicketAdder(new Queue(name, producer, factory), log);
      queues.set(name, adder);
      return adder;
    },
    worker(name, take) {
      const options = { ...consumer(), ...WORKER_PACE, ...TICKET_TIMEOUTS };
      const worker = new Worker<Ticket, void, string, B, never, C>(name, take, options, factory);
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (_, error) => log.error({ err: error, queue: name }, 'ticket failed'));
      workers.add(worker);
      return {
        close() {
          workers.delete(worker);
          return withinStopLimit(worker.close());
        },
      };
    },
    async ping() {
      await ping();
    },
    async close() {
      await withinStopLimit(Promise.all([...queues.values(), ...workers].map((one) => one.close())));
      await withinStopLimit(close());
    },
  };
}

type Ticket = { ids: string[] };
type BullQueue<B extends IQueueBackend, C> = Queue<Ticket, void, string, Ticket, void, string, B, C>;

class TicketAdder<B extends IQueueBackend, C> implements TicketQueue {
  readonly #queue: BullQueue<B, C>;
  readonly #log: Log;
  readonly #ids = new Set<string>();
  readonly #additions = new Coalescer(() => this.#addOne(), TICKET_EVERY_MS);
  #isDown = false;

  constructor(queue: BullQueue<B, C>, log: Log) {
    // Ignores errors of the queue: its connection logs them.
    queue.on('error', () => {});
    this.#queue = queue;
    this.#log = log.child({ queue: queue.name });
  }

  add(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.size < TICKET_IDS_MAX) this.#ids.add(id);
    void this.#additions.run();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  async #addOne(): Promise<void> {
    const ids = [...this.#ids];
    this.#ids.clear();
    await this.#queue.add('ticket', { ids }, TICKET_OPTIONS).then(
      () => this.#logOutage(false),
      (error: unknown) => this.#logOutage(true, error),
    );
  }

  /** Logs an outage once, however many tickets fail meanwhile. */
  #logOutage(isDown: boolean, error?: unknown): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    if (isDown)
      this.#log.warn({ err: error }, 'the queue takes no tickets: workers look for work once a second');
    else this.#log.info('the queue takes tickets again');
  }
}

/** Waits for at most `STOP_LIMITS.queue`, because BullMQ's own close waits for a store that may be down. */
async function withinStopLimit(closing: Promise<unknown>): Promise<void> {
  await withTimeout(STOP_LIMITS.queue, () => closing).catch(() => {});
}

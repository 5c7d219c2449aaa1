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
import { Coalesced } from '../timing/coalesce.ts';
import { within } from '../timing/within.ts';
import { postgresStore } from './postgres-store.ts';
import { assertTakesWrites, connectRedis, type RedisClient, readMemory, SAFE_POLICY } from './redis.ts';

/** Time in which a process adds one ticket at most. */
const EVERY_MS = 200;
const MOST_IDS = 200;
/**
 * One ticket serves all that came before it is taken, so there is never more than one, in hand or waiting. Work that needs
 * another attempt gets another ticket: BullMQ's own redelivery is never relied on.
 */
const TICKET = { attempts: 1, removeOnComplete: true, removeOnFail: true, deduplication: { id: 'ticket' } };
/** An idle worker asks each ten seconds, or soon after its connection was refused. */
const PACE = { concurrency: 1, drainDelay: 10, runRetryDelay: 500 };
/** A ticket takes no time: one that is in hand for longer has lost its worker, and another one gets it. */
const LOST_AFTER = { lockDuration: 10_000, stalledInterval: 10_000, skipLockRenewal: true };

/**
 * One pool's queue. A job is a ticket: "there is work". The rows say what the work is, and workers look at them once a
 * second, so any ticket may be lost, late or doubled.
 */
export interface TicketQueue {
  /**
   * Adds a ticket; those asked for within 200 ms share one. Neither waits nor fails. Call it after the commit of the rows
   * that have these ids, which only people who look at the queue read.
   */
  add(ids: readonly string[]): void;
}

/** Takes tickets from one queue. */
export interface TicketWorker {
  /** Takes no more tickets. Resolves within 2 s. */
  close(): Promise<void>;
}

/** BullMQ on this installation's store. */
export interface Queues {
  queue(name: string): TicketQueue;
  /** Calls `take` for each ticket, one at a time. */
  worker(name: string, take: () => Promise<void>): TicketWorker;
  /** Rejects unless the store answers and takes tickets. */
  ping(): Promise<void>;
  /** Resolves within 4 s, also when the store is down. */
  close(): Promise<void>;
}

/** The queues on Redis where there is one, else on PostgreSQL. */
export async function openQueues(
  config: Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>,
  log: Log,
): Promise<Queues> {
  return config.redis === undefined
    ? queuesOn(postgresStore(config, log), log)
    : queuesOn(await redisStore(config.redis, config.queuePrefix, log), log);
}

/** Connections of BullMQ to a store, which it never closes. */
interface Store<B extends IQueueBackend, C> {
  factory: BackendFactory<B, C>;
  producer: QueueOptions<C>;
  /** Called for each worker. */
  consumer(): Omit<WorkerOptions<C>, 'concurrency'>;
  ping(): Promise<unknown>;
  close(): Promise<unknown>;
}

const FIRST_CONNECTION_MS = 2000;

/** BullMQ's queues on Redis. The prefix is a hash tag, so that a cluster keeps all of their keys in one slot. */
async function redisStore(target: RedisTarget, queuePrefix: string, log: Log) {
  const producer = connectRedis(target, 'producer', log);
  producer.on('ready', () => void warnOfEviction(producer, log));
  const options = { prefix: `{${queuePrefix}}`, skipVersionCheck: true };
  let consumer: RedisClient | undefined;
  // Usually ready at once; otherwise the process starts unready, and is ready when Redis is.
  await within(FIRST_CONNECTION_MS, () => new Promise((resolve) => producer.once('ready', resolve))).catch(
    () => {},
  );
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

/** Logged as an error, because tickets then vanish silently. */
async function warnOfEviction(client: RedisClient, log: Log): Promise<void> {
  const policy = (await readMemory(client).catch(() => undefined))?.policy;
  if (policy === undefined || policy === SAFE_POLICY) return;
  log.error({ policy }, `Redis may drop jobs: set its maxmemory-policy to ${SAFE_POLICY}`);
}

function queuesOn<B extends IQueueBackend, C>(
  { factory, producer, consumer, ping, close }: Store<B, C>,
  log: Log,
): Queues {
  const queues = new Map<string, Tickets<B, C>>();
  const workers = new Set<Worker<Ticket, void, string, B, never, C>>();
  return {
    queue(name) {
      const known = queues.get(name) ?? new Tickets(new Queue(name, producer, factory), log);
      queues.set(name, known);
      return known;
    },
    worker(name, take) {
      const options = { ...consumer(), ...PACE, ...LOST_AFTER };
      const worker = new Worker<Ticket, void, string, B, never, C>(name, take, options, factory);
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (_, error) => log.error({ err: error, queue: name }, 'ticket failed'));
      workers.add(worker);
      return {
        close() {
          workers.delete(worker);
          return inTime(worker.close());
        },
      };
    },
    async ping() {
      await ping();
    },
    async close() {
      await inTime(Promise.all([...queues.values(), ...workers].map((one) => one.close())));
      await inTime(close());
    },
  };
}

type Ticket = { ids: string[] };
type BullQueue<B extends IQueueBackend, C> = Queue<Ticket, void, string, Ticket, void, string, B, C>;

/** A process's tickets for one queue, one under way at a time. */
class Tickets<B extends IQueueBackend, C> implements TicketQueue {
  readonly #queue: BullQueue<B, C>;
  readonly #log: Log;
  readonly #ids = new Set<string>();
  readonly #additions = new Coalesced(() => this.#addOne(), EVERY_MS);
  #isDown = false;

  constructor(queue: BullQueue<B, C>, log: Log) {
    // Its connection logs them.
    queue.on('error', () => {});
    this.#queue = queue;
    this.#log = log.child({ queue: queue.name });
  }

  add(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.size < MOST_IDS) this.#ids.add(id);
    void this.#additions.run();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  async #addOne(): Promise<void> {
    const ids = [...this.#ids];
    this.#ids.clear();
    await this.#queue.add('ticket', { ids }, TICKET).then(
      () => this.#note(false),
      (error: unknown) => this.#note(true, error),
    );
  }

  /** Logs an outage once, however many tickets it costs. */
  #note(isDown: boolean, error?: unknown): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    if (isDown)
      this.#log.warn({ err: error }, 'the queue takes no tickets: workers look for work once a second');
    else this.#log.info('the queue takes tickets again');
  }
}

/** Waits no longer than a stop may take: BullMQ's own close waits for a store that may be down. */
async function inTime(closed: Promise<unknown>): Promise<void> {
  await within(STOP_LIMITS.queue, () => closed).catch(() => {});
}

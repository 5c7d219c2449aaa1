import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertSchemaCompatibility,
  type BackendClasses,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  withBackend,
} from 'bullmq';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { RedisTarget } from '../config/redis-url.ts';
import type { Log } from '../log.ts';
import { contracts, type JobName, type JobPayloads } from './contracts.ts';
import { connectRedis, evictionPolicy, type RedisClient, SAFE_POLICY } from './redis.ts';

/** A job to be put on a queue. Those of a lower turn go first, whenever they came. */
export interface Job<Name extends JobName> {
  payload: JobPayloads[Name];
  turn: number;
}

/** Puts jobs on one queue. */
export interface JobQueue<Name extends JobName> {
  add(jobs: Job<Name>[]): Promise<void>;
}

/** Takes jobs from one queue; `close` takes no more and resolves when those in hand are done. */
export interface JobWorker {
  close(): Promise<void>;
}

/** BullMQ on the store that this installation has. The queue only moves ids: it may lose or double any of them. */
export interface Queues {
  queue<Name extends JobName>(name: Name): JobQueue<Name>;
  /**
   * Takes jobs while fewer than `slots` ids are in hand; the last one may bring a few more. `perform` is to call `done`
   * once for each id, as soon as that is out of its hands.
   */
  worker<Name extends JobName>(
    name: Name,
    perform: (payload: JobPayloads[Name], done: () => void) => Promise<void>,
    options: { slots: number },
  ): JobWorker;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The queues on Redis where there is one, else on PostgreSQL. */
export async function openQueues(config: QueueConfig, log: Log): Promise<Queues> {
  return config.redis === undefined
    ? onPostgres(config, log)
    : onRedis(config.redis, config.queuePrefix, log);
}

/**
 * BullMQ's own bound; 1 goes first. Turns grow for ever, so that they wrap here: once in two million turns, and only if
 * there is a backlog at that moment, what waits lets newer ones pass.
 */
const LOWEST_PRIORITY = 2 ** 21 - 1;

/**
 * How soon a worker asks again after its store refused the connection. BullMQ's own 15 s would outlast the deadlines of
 * all who come meanwhile.
 */
const ASK_AGAIN_MS = 500;

type QueueConfig = Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>;

/** The schema of the queue's tables, when the queues are on PostgreSQL. */
export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`;
}

/** Fails unless the queue's own tables are there and current. */
export async function assertQueueReady(pool: Pool, prefix: string): Promise<void> {
  const client = await pool.connect();
  try {
    await assertSchemaCompatibility(client, queueSchema(prefix));
  } finally {
    client.release();
  }
}

/**
 * Commits of the queue need not wait for the disk: the truth is in the rows, and what a crash loses here the reaper
 * queues again.
 */
function onPostgres({ database, queuePrefix }: QueueConfig, log: Log): Queues {
  const connection = {
    connectionString: database.directUrl,
    schema: queueSchema(queuePrefix),
    max: 4,
    connectionTimeoutMillis: 2000,
    options: '-c synchronous_commit=off',
  };
  const classes = withBackend(createPostgresBackend);
  // The queue's tables are in the database whose health is asked for anyway.
  return queuesOf(classes, { producer: connection, consumer: () => connection }, log);
}

const FIRST_CONNECTION_MS = 2000;

/** The prefix is a hash tag, so that a cluster keeps all keys of the queues in one slot. */
async function onRedis(target: RedisTarget, queuePrefix: string, log: Log): Promise<Queues> {
  const producer = connectRedis(target, 'producer', log);
  producer.on('ready', () => void warnOfEviction(producer, log));
  const consumers: RedisClient[] = [];
  const consumer = () => {
    const client = connectRedis(target, 'consumer', log);
    consumers.push(client);
    return client;
  };
  const options = { prefix: `{${queuePrefix}}`, skipVersionCheck: true };
  // Usually there at once; else the process goes on, unready, and is ready when Redis is.
  await Promise.race([new Promise((resolve) => producer.once('ready', resolve)), sleep(FIRST_CONNECTION_MS)]);
  const queues = queuesOf(withBackend(createRedisBackend), { producer, consumer, options }, log);
  return {
    ...queues,
    async ping() {
      await producer.ping();
    },
    async close() {
      await queues.close();
      for (const client of [producer, ...consumers]) client.disconnect();
    },
  };
}

/** Loud, because jobs then vanish silently; the reaper finds their rows, but late. */
async function warnOfEviction(client: RedisClient, log: Log): Promise<void> {
  const policy = await evictionPolicy(client).catch(() => undefined);
  if (policy === undefined || policy === SAFE_POLICY) return;
  log.error({ policy }, `Redis may drop jobs: set its maxmemory-policy to ${SAFE_POLICY}`);
}

interface Connections<C> {
  producer: C;
  consumer: () => C;
  options?: { prefix: string; skipVersionCheck: boolean };
}

function queuesOf<B extends IQueueBackend, C>(
  { Queue, Worker }: BackendClasses<B, C>,
  { producer, consumer, options }: Connections<C>,
  log: Log,
): Queues {
  const opened: { close(): Promise<void> }[] = [];
  return {
    queue(name) {
      const queue = new Queue<object>(contracts[name].queue, { connection: producer, ...options });
      queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue connection'));
      opened.push(queue);
      return {
        async add(jobs) {
          // Once only: the rows know what is to be tried again, and the queue's own redelivery is never relied on.
          const opts = { attempts: 1, removeOnComplete: true, removeOnFail: 1000 };
          await queue.addBulk(
            jobs.map(({ payload, turn }) => ({
              name,
              data: payload,
              opts: { ...opts, priority: 1 + (turn % LOWEST_PRIORITY) },
            })),
          );
        },
      };
    },
    worker(name, perform, { slots }) {
      const { queue, most } = contracts[name];
      const inHand = { jobs: 0, ids: 0 };
      /** BullMQ counts jobs; a free slot is worth one, eight of them are worth one too, for it may bring eight ids. */
      const concurrency = () => Math.max(1, inHand.jobs + Math.ceil(Math.max(0, slots - inHand.ids) / most));
      const take = (jobs: number, ids: number) => {
        inHand.jobs += jobs;
        inHand.ids += ids;
        worker.concurrency = concurrency();
      };
      const worker = new Worker<JobPayloads[typeof name]>(
        queue,
        async ({ data }) => {
          take(1, data.ids.length);
          await perform(data, () => take(0, -1)).finally(() => take(-1, 0));
        },
        {
          connection: consumer(),
          concurrency: concurrency(),
          runRetryDelay: ASK_AGAIN_MS,
          ...options,
        },
      );
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (job, error) => log.error({ err: error, queue: name, job: job?.id }, 'job failed'));
      return { close: () => worker.close() };
    },
    ping: async () => {},
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

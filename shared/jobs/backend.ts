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
import { connectRedis } from './redis.ts';

/** Puts jobs on one queue. */
export interface JobQueue<Name extends JobName> {
  add(payloads: JobPayloads[Name][]): Promise<void>;
}

/** Takes jobs from one queue; `close` takes no more and resolves when those in hand are done. */
export interface JobWorker {
  close(): Promise<void>;
}

/** BullMQ on the store that this installation has. The queue only moves ids: it may lose or double any of them. */
export interface Queues {
  queue<Name extends JobName>(name: Name): JobQueue<Name>;
  worker<Name extends JobName>(
    name: Name,
    perform: (payload: JobPayloads[Name]) => Promise<void>,
    options: { concurrency: number },
  ): JobWorker;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The queues on Redis where there is one, else on PostgreSQL. */
export function openQueues(config: QueueConfig, log: Log): Queues {
  return config.redis === undefined
    ? onPostgres(config, log)
    : onRedis(config.redis, config.queuePrefix, log);
}

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

/** The prefix is a hash tag, so that a cluster keeps all keys of the queues in one slot. */
function onRedis(target: RedisTarget, queuePrefix: string, log: Log): Queues {
  const producer = connectRedis(target, 'producer', log);
  const consumers: ReturnType<typeof connectRedis>[] = [];
  const consumer = () => {
    const client = connectRedis(target, 'consumer', log);
    consumers.push(client);
    return client;
  };
  const options = { prefix: `{${queuePrefix}}`, skipVersionCheck: true };
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
        async add(payloads) {
          // Once only: the rows know what is to be tried again, and the queue's own redelivery is never relied on.
          const opts = { attempts: 1, removeOnComplete: true, removeOnFail: 1000 };
          await queue.addBulk(payloads.map((data) => ({ name, data, opts })));
        },
      };
    },
    worker(name, perform, { concurrency }) {
      const worker = new Worker<JobPayloads[typeof name]>(
        contracts[name].queue,
        async (job) => perform(job.data),
        { connection: consumer(), concurrency, ...options },
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

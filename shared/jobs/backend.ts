import { assertSchemaCompatibility, createPostgresBackend, withBackend } from 'bullmq';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { contracts, type JobName, type JobPayloads } from './contracts.ts';

/** Puts jobs on one queue. */
export interface JobQueue<Name extends JobName> {
  add(payloads: JobPayloads[Name][]): Promise<void>;
  close(): Promise<void>;
}

/** Takes jobs from one queue. `pause` takes no new ones; `close` resolves when those in hand are done. */
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
}

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
 * Opens the queues on PostgreSQL. Their commits need not wait for the disk: the truth is in the rows, and what a
 * crash loses here the reaper queues again.
 */
export function openQueues(config: Pick<BaseConfig, 'database' | 'queuePrefix'>, log: Log): Queues {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const connection = {
    connectionString: config.database.directUrl,
    schema: queueSchema(config.queuePrefix),
    max: 4,
    connectionTimeoutMillis: 2000,
    options: '-c synchronous_commit=off',
  };
  return {
    queue(name) {
      const queue = new Queue<object>(contracts[name].queue, { connection });
      queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue connection'));
      return {
        async add(payloads) {
          // Once only: the rows know what is to be tried again, and the queue's own redelivery is never relied on.
          const opts = { attempts: 1, removeOnComplete: true, removeOnFail: 1000 };
          await queue.addBulk(payloads.map((data) => ({ name, data, opts })));
        },
        close: () => queue.close(),
      };
    },
    worker(name, perform, { concurrency }) {
      const worker = new Worker<JobPayloads[typeof name]>(
        contracts[name].queue,
        async (job) => perform(job.data),
        { connection, concurrency },
      );
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (job, error) => log.error({ err: error, queue: name, job: job?.id }, 'job failed'));
      return { close: () => worker.close() };
    },
  };
}

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
import { STOP_LIMITS } from '../stop-limits.ts';
import { Coalescer } from '../timing/coalesce.ts';
import { Rest } from '../timing/rest.ts';
import { withTimeout } from '../timing/within.ts';
import { postgresStore } from './postgres-store.ts';
import {
  assertTakesWrites,
  connectRedis,
  type RedisClient,
  readMemory,
  SAFE_EVICTION_POLICY,
} from './redis.ts';

/** A job is removed once a worker has taken it: it only says which work is queued. BullMQ's retries are not needed. */
const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
/** A job that names more takes longer to be shared among workers with few free slots. */
const JOB_PARTIES = 16;
/**
 * Pause after an addition, in which further jobs are joined: so much for each job beyond the first, so that a lone job is
 * never delayed. From about 350 jobs a second the pause grows to the longest.
 */
const JOIN_MS = { perJob: 3, longest: 15 };
/**
 * An idle worker waits for a job for nine seconds at a time (on PostgreSQL longer: `IDLE_PACE`), and retries half a
 * second after a refused connection. With a higher concurrency, BullMQ would ask for a second job before it hands over
 * the first.
 */
const WORKER_PACE = { concurrency: 1, drainDelay: 9, runRetryDelay: 500 };
/** Time after which the job of a lost worker goes to another worker. */
const JOB_TIMEOUTS = { lockDuration: 10_000, stalledInterval: 10_000 };

/**
 * Names queued work of one kind. A job may be lost, late or doubled, because the rows of the work are the truth, and
 * workers also look for them once a second.
 */
export interface Job {
  kind: string;
  work: readonly { party: string; ids: readonly string[] }[];
  /** True if a worker has passed it on for want of a slot. */
  passedOn?: boolean;
}

export interface JobWorker {
  /** Resolves within `STOP_LIMITS.queue`. */
  close(): Promise<void>;
}

export interface Queues {
  /**
   * Adds jobs to a pool's queue, without waiting. Never throws. Call it after the commit of their rows. Jobs of a kind
   * that come while earlier ones are being added are added as one.
   */
  add(pool: string, jobs: readonly Job[]): void;
  /** Calls `take` for each job of a pool, one at a time. */
  worker(pool: string, take: (job: Job) => Promise<void>): JobWorker;
  /** Rejects unless the store answers and takes jobs. */
  ping(): Promise<void>;
  /** Resolves within three times `STOP_LIMITS.queue`, even if the store is down. */
  close(): Promise<void>;
}

export async function openQueues(
  config: Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>,
  log: Log,
  rest = new Rest(),
): Promise<Queues> {
  return config.redis === undefined
    ? queuesOn(postgresStore(config, log, rest), log)
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

/** If Redis evicts keys, jobs are lost silently. */
async function warnOfEviction(client: RedisClient, log: Log): Promise<void> {
  const policy = (await readMemory(client).catch(() => undefined))?.policy;
  if (policy === undefined || policy === SAFE_EVICTION_POLICY) return;
  log.error({ policy }, `Redis may drop jobs: set its maxmemory-policy to ${SAFE_EVICTION_POLICY}`);
}

function queuesOn<B extends IQueueBackend, C>(
  { factory, producer, consumer, ping, close }: Store<B, C>,
  log: Log,
): Queues {
  const producers = new Map<string, Producer>();
  const workers = new Set<Worker<JobData, void, string, B, never, C>>();
  let isDown = false;
  /** Logs an outage once, however many jobs fail meanwhile. */
  const noteOutcome = (error?: unknown) => {
    if (isDown === (error !== undefined)) return;
    isDown = !isDown;
    if (isDown) log.warn({ err: error }, 'the queue takes no jobs: workers look for work once a second');
    else log.info('the queue takes jobs again');
  };
  const openProducer = (pool: string): Producer => {
    const queue = new Queue<JobData, void, string, JobData, void, string, B, C>(pool, producer, factory);
    // Ignores errors of the queue: its connection logs them.
    queue.on('error', () => {});
    const waiting: Job[] = [];
    let pauseMs = 0;
    const addWaiting = async () => {
      pauseMs = Math.min(JOIN_MS.perJob * (waiting.length - 1), JOIN_MS.longest);
      // One by one, because BullMQ's bulk statement for PostgreSQL takes ten times as long as the statement for one job.
      const added = joined(waiting.splice(0)).map(({ kind, ...data }) => queue.add(kind, data, JOB_OPTIONS));
      await Promise.all(added).then(() => noteOutcome(), noteOutcome);
    };
    const additions = new Coalescer(addWaiting, () => pauseMs);
    return {
      add(jobs) {
        waiting.push(...jobs);
        void additions.run();
      },
      async close() {
        await withinStopLimit(additions.run());
        await withinStopLimit(queue.close());
      },
    };
  };
  return {
    add(pool, jobs) {
      const known = producers.get(pool) ?? openProducer(pool);
      producers.set(pool, known);
      known.add(jobs);
    },
    worker(pool, take) {
      const options = { ...WORKER_PACE, ...JOB_TIMEOUTS, ...consumer() };
      const takeJob = ({ name: kind, data }: { name: string; data: JobData }) => take({ kind, ...data });
      const worker = new Worker<JobData, void, string, B, never, C>(pool, takeJob, options, factory);
      worker.on('error', (error) => log.warn({ err: error, queue: pool }, 'worker connection'));
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
      await Promise.all([...producers.values()].map((one) => one.close()));
      await withinStopLimit(Promise.all([...workers].map((one) => one.close())));
      await withinStopLimit(close());
    },
  };
}

type JobData = Omit<Job, 'kind'>;

interface Producer {
  add(jobs: readonly Job[]): void;
  close(): Promise<void>;
}

/** Joins jobs of a kind, up to `JOB_PARTIES` parties, but none that was passed on with one that was not. */
function joined(jobs: readonly Job[]): Job[] {
  const results: (Job & { work: Job['work'][number][] })[] = [];
  for (const { work, ...job } of jobs) {
    const found = results.findLast(
      (one) =>
        one.kind === job.kind &&
        one.passedOn === job.passedOn &&
        one.work.length + work.length <= JOB_PARTIES,
    );
    if (found === undefined) results.push({ ...job, work: [...work] });
    else found.work.push(...work);
  }
  return results;
}

/** Waits for at most `STOP_LIMITS.queue`, because BullMQ's own close waits for a store that may be down. */
async function withinStopLimit(closing: Promise<unknown>): Promise<void> {
  await withTimeout(STOP_LIMITS.queue, () => closing).catch(() => {});
}

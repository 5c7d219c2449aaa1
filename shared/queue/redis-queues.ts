import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, createRedisBackend } from 'bullmq';
import type { RedisTarget } from '../config/redis-url.ts';
import type { Log } from '../log.ts';
import { bullmqQueues } from './bullmq-queues.ts';
import type { Queues } from './queues.ts';
import { assertTakesWrites, connectRedis, evictionPolicy, type RedisClient, SAFE_POLICY } from './redis.ts';

const FIRST_CONNECTION_MS = 2000;

/** The prefix is a hash tag, so that a cluster keeps all keys of the queues in one slot. */
export async function redisQueues(target: RedisTarget, queuePrefix: string, log: Log): Promise<Queues> {
  const producer = connectRedis(target, 'producer', log);
  producer.on('ready', () => void warnOfEviction(producer, log));
  const options = { prefix: `{${queuePrefix}}`, skipVersionCheck: true };
  let consumer: RedisClient | undefined;
  // Usually ready at once; otherwise the process starts unready, and is ready when Redis is.
  await Promise.race([new Promise((resolve) => producer.once('ready', resolve)), sleep(FIRST_CONNECTION_MS)]);
  const queues = bullmqQueues<ReturnType<typeof createRedisBackend>, ConnectionOptions>(
    {
      factory: createRedisBackend,
      producer: { connection: producer, ...options },
      consumer() {
        consumer ??= connectRedis(target, 'consumer', log);
        return { connection: consumer, ...options };
      },
    },
    log,
  );
  return {
    ...queues,
    ping: () => assertTakesWrites(producer),
    async close() {
      await queues.close();
      producer.disconnect();
      consumer?.disconnect();
    },
  };
}

/** Logged as an error, because tickets then vanish silently. */
async function warnOfEviction(client: RedisClient, log: Log): Promise<void> {
  const policy = await evictionPolicy(client).catch(() => undefined);
  if (policy === undefined || policy === SAFE_POLICY) return;
  log.error({ policy }, `Redis may drop jobs: set its maxmemory-policy to ${SAFE_POLICY}`);
}

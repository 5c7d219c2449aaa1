import { createRedisBackend } from 'bullmq';
import type { RedisTarget } from '../config/values.ts';
import type { Log } from '../log.ts';
import { within } from '../timing/within.ts';
import { assertTakesWrites, connectRedis, type RedisClient, readMemory, SAFE_POLICY } from './redis.ts';

const FIRST_CONNECTION_MS = 2000;

/** BullMQ's queues on Redis. The prefix is a hash tag, so that a cluster keeps all of their keys in one slot. */
export async function redisStore(target: RedisTarget, queuePrefix: string, log: Log) {
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

import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { RedisTarget } from '../config/redis-url.ts';
import type { Log } from '../log.ts';

export type RedisClient = Redis | Cluster;

/**
 * What a connection is for. A producer answers a caller, so it fails fast; a consumer and a listener have all the time
 * in the world, and come back for ever.
 */
export type RedisRole = 'producer' | 'consumer' | 'listener';

const COMMAND_TIMEOUT_MS = 1500;
/**
 * A connection that owes an answer for so long is given up and made again: a host that lost its power, or a balancer
 * that forgot us, never says so. A consumer may block for the queue's second.
 */
const SILENCE_MS = { producer: 2000, consumer: 2500, listener: 2000 };
/** Whoever only listens, or has had nothing to say for long, would never learn that nobody is there any more. */
const PULSE_EVERY_MS = 5000;
const LONGEST_RETRY_MS = 2000;

/** Connects in the background. The connection is made again for ever, whatever breaks or silences it. */
export function connectRedis(target: RedisTarget, role: RedisRole, log: Log): RedisClient {
  const client = create(target, optionsOf(role), role === 'producer');
  client.on('error', (error) => log.warn({ err: error, role }, 'redis connection'));
  const pulse = setInterval(() => beat(client), PULSE_EVERY_MS).unref();
  client.once('end', () => clearInterval(pulse));
  return client;
}

/** An answer that does not come in time breaks the connection (`SILENCE_MS`). */
function beat(client: RedisClient): void {
  for (const node of client instanceof Cluster ? client.nodes() : [client]) {
    if (node.status === 'ready') node.ping().catch(() => {});
  }
}

function create(target: RedisTarget, options: CommonRedisOptions, failFast: boolean): RedisClient {
  const enableOfflineQueue = !failFast;
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, { ...options, enableOfflineQueue, retryStrategy: retryAfter });
    case 'sentinel': {
      const { hosts: sentinels, name, db, username, password } = target;
      const login = { ...(username && { username }), ...(password && { password }) };
      const again = { retryStrategy: retryAfter, sentinelRetryStrategy: retryAfter };
      return new Redis({ ...options, ...again, ...login, sentinels, name, db, enableOfflineQueue });
    }
    case 'cluster': {
      const { hosts, username, password } = target;
      const redisOptions = { ...options, ...(username && { username }), ...(password && { password }) };
      return new Cluster(hosts, { redisOptions, enableOfflineQueue, clusterRetryStrategy: retryAfter });
    }
  }
}

function optionsOf(role: RedisRole): CommonRedisOptions {
  const alive = {
    connectTimeout: 2000,
    socketTimeout: SILENCE_MS[role],
    keepAlive: 10_000,
    connectionName: `forecue ${role}`,
  };
  return role === 'producer'
    ? { ...alive, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS }
    : { ...alive, maxRetriesPerRequest: null };
}

/** Ever longer, and never all processes at the same moment. */
function retryAfter(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 10), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2);
}

/** The only policy under which no job is dropped when the memory is full. */
export const SAFE_POLICY = 'noeviction';

/** What the server does when its memory is full. */
export async function evictionPolicy(client: RedisClient): Promise<string | undefined> {
  const info = await client.info('memory');
  return info.match(/^maxmemory_policy:(\S+)/m)?.[1];
}

import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { RedisTarget } from '../config/redis-url.ts';
import { every } from '../every.ts';
import type { Log } from '../log.ts';
import { backoffMs } from '../retry.ts';

export type RedisClient = Redis | Cluster;

/**
 * What a connection is for. A producer answers a caller, so its commands fail fast; those of a consumer and a listener
 * wait for the next connection.
 */
export type RedisRole = 'producer' | 'consumer' | 'listener';

const COMMAND_TIMEOUT_MS = 1500;
/**
 * A connection that owes an answer for this long is closed and reopened: a host that lost its power, or a balancer
 * that dropped our entry, never says so. BullMQ's consumers wait for ten seconds, and give up themselves after eleven.
 */
const SILENCE_MS = { producer: 2000, consumer: 12_000, listener: 2000 };
/** How often an idle connection is pinged: without traffic it would never notice that the server is gone. */
const PULSE_EVERY_MS = 5000;
const RECONNECT = { firstMs: 100, longestMs: 2000 };

/** Connects in the background, and reconnects for as long as the process runs, whatever breaks or silences it. */
export function connectRedis(target: RedisTarget, role: RedisRole, log: Log): RedisClient {
  const client = create(target, optionsOf(role), role === 'producer');
  client.on('error', (error) => log.warn({ err: error, role }, 'redis connection'));
  const pulse = every(PULSE_EVERY_MS, () => beat(client), { ref: false });
  client.once('end', () => void pulse.stop());
  return client;
}

/** A missing answer closes the connection (`SILENCE_MS`). */
function beat(client: RedisClient): void {
  for (const node of client instanceof Cluster ? client.nodes() : [client]) {
    if (node.status === 'ready') node.ping().catch(() => {});
  }
}

function create(target: RedisTarget, options: CommonRedisOptions, failFast: boolean): RedisClient {
  const enableOfflineQueue = !failFast;
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, { ...options, enableOfflineQueue, retryStrategy });
    case 'sentinel': {
      const { hosts: sentinels, name, db, username, password } = target;
      const login = { ...(username && { username }), ...(password && { password }) };
      const again = { retryStrategy, sentinelRetryStrategy: retryStrategy };
      return new Redis({ ...options, ...again, ...login, sentinels, name, db, enableOfflineQueue });
    }
    case 'cluster': {
      const { hosts, username, password } = target;
      const redisOptions = { ...options, ...(username && { username }), ...(password && { password }) };
      return new Cluster(hosts, { redisOptions, enableOfflineQueue, clusterRetryStrategy: retryStrategy });
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

/** ioredis counts from 1. */
const retryStrategy = (times: number) => backoffMs(times, RECONNECT);

/** The only policy that never drops a job when memory is full. */
export const SAFE_POLICY = 'noeviction';

/** What the server does when its memory is full. */
export async function evictionPolicy(client: RedisClient): Promise<string | undefined> {
  const info = await client.info('memory');
  return info.match(/^maxmemory_policy:(\S+)/m)?.[1];
}

import { Cluster, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisTarget } from '../config/values.ts';
import type { Log } from '../log.ts';
import { every } from '../timing/every.ts';
import { backoffMs } from '../timing/retry.ts';

export type RedisClient = Redis | Cluster;

/**
 * Purpose of a connection. A producer's commands fail fast; those of other roles wait until their connection is back.
 */
export type RedisRole = 'producer' | 'consumer' | 'listener';

const COMMAND_TIMEOUT_MS = 1500;
/**
 * How long an expected answer may take before the connection is closed and reopened: a host that lost its power, or a
 * load balancer that forgot the connection, never says so. A consumer's limit is longer, because BullMQ's blocking
 * reads last ten seconds, and BullMQ itself gives one up after eleven.
 */
const SILENCE_MS = { producer: 2000, consumer: 12_000, listener: 2000 };
/** Interval of a connection's probes: without traffic it would never notice that the server is gone or was demoted. */
const PULSE_EVERY_MS = 2000;
const RECONNECT = { firstMs: 100, longestMs: 2000 };

/**
 * Connects in the background, and reconnects for as long as the process runs, whenever the connection breaks or falls
 * silent. Disconnects from a server that has become a read-only replica, since the host name may lead to another server
 * by now.
 */
export function connectRedis(target: RedisTarget, role: RedisRole, log: Log): RedisClient {
  const client = create(target, role);
  let isDown = false;
  const fault = (error: unknown) => {
    if (!isDown) log.warn({ err: error, role }, 'redis connection');
    isDown = true;
  };
  const beat = async (node: Redis) => {
    if (node.status !== 'ready') return;
    // A listener's connection takes only pings, unless both ends speak RESP 3. A missing answer closes it.
    const replicaCheck = node.mode === 'subscriber' ? node.ping().then(() => false) : isReadOnly(node);
    const isReplica = await replicaCheck.catch(() => undefined);
    if (isReplica === false) isDown = false;
    if (!isReplica || target.kind === 'cluster') return;
    fault(new ReadOnlyError());
    node.disconnect(true);
  };
  client.on('error', fault);
  const nodes = () => (client instanceof Cluster ? client.nodes() : [client]);
  const pulse = every(PULSE_EVERY_MS, () => void nodes().forEach(beat), { ref: false });
  client.once('end', () => void pulse.stop());
  return client;
}

class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  override readonly message = 'this Redis is a read-only replica';
}

/** Rejects unless the server answers and takes writes. A demoted server still answers pings, and even publishes. */
export async function assertTakesWrites(client: RedisClient): Promise<void> {
  if (!(await takesWrites(client))) throw new ReadOnlyError();
}

/** Asks the server whether it takes writes; rejects unless it answers. */
export async function takesWrites(client: RedisClient): Promise<boolean> {
  if (!(client instanceof Cluster)) return !(await isReadOnly(client));
  // A cluster's nodes redirect writes to each other.
  await client.ping();
  return true;
}

async function isReadOnly(node: Redis): Promise<boolean> {
  return /^role:(slave|replica)/m.test(await node.info('replication'));
}

function create(target: RedisTarget, role: RedisRole): RedisClient {
  const options = { ...optionsOf(role), enableOfflineQueue: role !== 'producer' };
  if (target.kind === 'single') return new Redis(target.url, { ...options, retryStrategy });
  const { hosts, username, password } = target;
  const login = { ...(username && { username }), ...(password && { password }) };
  if (target.kind === 'sentinel') {
    const { name, db } = target;
    const retryStrategies = { retryStrategy, sentinelRetryStrategy: retryStrategy };
    return new Redis({ ...options, ...retryStrategies, ...login, sentinels: hosts, name, db });
  }
  if (role === 'listener') return listenAtAny(hosts, { ...options, ...login, retryStrategy });
  const { enableOfflineQueue, ...redisOptions } = { ...options, ...login };
  return new Cluster(hosts, { redisOptions, enableOfflineQueue, clusterRetryStrategy: retryStrategy });
}

/**
 * Connects to one node of a cluster, and to the next one whenever that connection breaks: every node hears all
 * messages. A `Cluster` would listen on an internal connection to one node, which has no pulse, and could wait on it
 * for ever.
 */
function listenAtAny(hosts: readonly { host: string; port: number }[], options: RedisOptions): Redis {
  let nth = Math.floor(Math.random() * hosts.length);
  const client = new Redis({ ...options, ...hosts[nth] });
  client.on('reconnecting', () => {
    nth = (nth + 1) % hosts.length;
    Object.assign(client.options, hosts[nth]);
  });
  return client;
}

function optionsOf(role: RedisRole): CommonRedisOptions {
  const alive = {
    connectTimeout: 2000,
    socketTimeout: SILENCE_MS[role],
    keepAlive: 10_000,
    connectionName: `forecue-${role}`,
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  };
  return role === 'producer'
    ? { ...alive, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS }
    : { ...alive, maxRetriesPerRequest: null };
}

/** Delay of a reconnection by its number, which ioredis counts from 1. */
const retryStrategy = (times: number) => backoffMs(times, RECONNECT);

/** The only policy that never drops a job when memory is full. */
export const SAFE_POLICY = 'noeviction';

/** Memory that the server uses and may use (0: any amount), in bytes, and its policy for evicting keys. */
export interface RedisMemory {
  used: number;
  most: number;
  policy: string | undefined;
}

export async function readMemory(client: RedisClient): Promise<RedisMemory> {
  const info = await client.info('memory');
  const read = (name: string) => info.match(new RegExp(`^${name}:(\\S+)`, 'm'))?.[1];
  return {
    used: Number(read('used_memory')),
    most: Number(read('maxmemory')),
    policy: read('maxmemory_policy'),
  };
}

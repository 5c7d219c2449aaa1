import { Cluster, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisTarget } from '../config/values.ts';
import type { Log } from '../log.ts';
import { every } from '../timing/every.ts';
import { backoffMs } from '../timing/retry.ts';

export type RedisClient = Redis | Cluster;

/** Commands of a producer fail fast; others wait until their connection is back. */
export type RedisRole = 'producer' | 'consumer' | 'listener';

const COMMAND_TIMEOUT_MS = 1500;
/**
 * Time without an answer after which a connection is reopened: a host that lost power closes nothing. A consumer waits
 * longer, because BullMQ's blocking reads last up to ten seconds.
 */
const SOCKET_TIMEOUTS_MS = { producer: 2000, consumer: 11_000, listener: 2000 };
/** Interval of probes. An idle connection would not notice that its server is gone or was demoted. */
const PROBE_EVERY_MS = 2000;
const RECONNECT = { firstMs: 100, longestMs: 2000 };

/**
 * Reconnects whenever the connection breaks or falls silent. Outside a cluster, a producer or consumer also leaves a
 * server that has become a replica: after a failover, the host name may lead to the new primary.
 */
export function connectRedis(target: RedisTarget, role: RedisRole, log: Log): RedisClient {
  const client = createClient(target, role);
  let isDown = false;
  const reportFault = (error: unknown) => {
    if (!isDown) log.warn({ err: error, role }, 'redis connection');
    isDown = true;
  };
  const probe = async (node: Redis) => {
    if (node.status !== 'ready') return;
    // A subscribed connection is only pinged: it takes no INFO, unless both ends speak RESP 3. A missing answer closes
    // it.
    const replicaCheck = node.mode === 'subscriber' ? node.ping().then(() => false) : isReadOnly(node);
    const isReplica = await replicaCheck.catch(() => undefined);
    if (isReplica === false) isDown = false;
    if (!isReplica || target.kind === 'cluster') return;
    reportFault(new ReadOnlyError());
    node.disconnect(true);
  };
  client.on('error', reportFault);
  const nodes = () => (client instanceof Cluster ? client.nodes() : [client]);
  const probes = every(PROBE_EVERY_MS, () => void nodes().forEach(probe), { ref: false });
  client.once('end', () => void probes.stop());
  return client;
}

class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  override readonly message = 'this Redis is a read-only replica';
}

/**
 * Throws if the server is a replica or does not answer. A ping is not enough, because a demoted server still answers
 * it.
 */
export async function assertTakesWrites(client: RedisClient): Promise<void> {
  if (!(await takesWrites(client))) throw new ReadOnlyError();
}

/** Rejects if the server does not answer. */
export async function takesWrites(client: RedisClient): Promise<boolean> {
  if (!(client instanceof Cluster)) return !(await isReadOnly(client));
  // Any node of a cluster redirects a write to the node that takes it.
  await client.ping();
  return true;
}

async function isReadOnly(node: Redis): Promise<boolean> {
  return /^role:(slave|replica)/m.test(await node.info('replication'));
}

function createClient(target: RedisTarget, role: RedisRole): RedisClient {
  const options = { ...optionsOf(role), enableOfflineQueue: role !== 'producer' };
  if (target.kind === 'single') return new Redis(target.url, { ...options, retryStrategy });
  const { hosts, username, password } = target;
  const credentials = { ...(username && { username }), ...(password && { password }) };
  if (target.kind === 'sentinel') {
    const { name, db } = target;
    const retryStrategies = { retryStrategy, sentinelRetryStrategy: retryStrategy };
    return new Redis({ ...options, ...retryStrategies, ...credentials, sentinels: hosts, name, db });
  }
  if (role === 'listener') return listenAtAny(hosts, { ...options, ...credentials, retryStrategy });
  const { enableOfflineQueue, ...redisOptions } = { ...options, ...credentials };
  return new Cluster(hosts, { redisOptions, enableOfflineQueue, clusterRetryStrategy: retryStrategy });
}

/**
 * Listens at one node of a cluster, since every node gets all messages. Moves to the next node when the connection
 * breaks. A `Cluster` of ioredis would not probe the connection at which it listens.
 */
function listenAtAny(hosts: readonly { host: string; port: number }[], options: RedisOptions): Redis {
  let index = Math.floor(Math.random() * hosts.length);
  const client = new Redis({ ...options, ...hosts[index] });
  client.on('reconnecting', () => {
    index = (index + 1) % hosts.length;
    Object.assign(client.options, hosts[index]);
  });
  return client;
}

function optionsOf(role: RedisRole): CommonRedisOptions {
  const common = {
    connectTimeout: 2000,
    socketTimeout: SOCKET_TIMEOUTS_MS[role],
    keepAlive: 10_000,
    connectionName: `forecue-${role}`,
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  };
  return role === 'producer'
    ? { ...common, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS }
    : { ...common, maxRetriesPerRequest: null };
}

/** ioredis counts reconnections from 1. */
const retryStrategy = (times: number) => backoffMs(times, RECONNECT);

/** The only policy that never drops a job when memory is full. */
export const SAFE_EVICTION_POLICY = 'noeviction';

/** Memory in bytes. */
export interface RedisMemory {
  used: number;
  /** 0 means no limit. */
  limit: number;
  policy: string | undefined;
}

export async function readMemory(client: RedisClient): Promise<RedisMemory> {
  const info = await client.info('memory');
  const read = (name: string) => info.match(new RegExp(`^${name}:(\\S+)`, 'm'))?.[1];
  return {
    used: Number(read('used_memory')),
    limit: Number(read('maxmemory')),
    policy: read('maxmemory_policy'),
  };
}

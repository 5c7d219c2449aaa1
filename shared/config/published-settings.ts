import { createHash } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { BaseConfig, StoreConfig, WorkerConfig } from './config.ts';
import type { RedisTarget } from './values.ts';

/**
 * Settings that a process publishes, so that operators notice processes with different configurations. They contain no
 * secrets or addresses.
 */
export interface PublishedSettings {
  version: string;
  /** Type of the queue's server and a hash of its address: equal for processes that share a queue. */
  queue: string;
  /**
   * Maximum number of direct connections to PostgreSQL, not counting connections to a pooler and those of the board at
   * `/admin`.
   */
  connections: number;
  /** Absent for a process that asks no model. */
  models?: string[];
  has_key?: boolean;
}

/** A worker has `DATABASE_POOL` connections for its own statements, and as many for its handlers, if it has any. */
export function workerSettings(config: WorkerConfig): PublishedSettings {
  const { poolSize } = config.database;
  if (!config.asksModels) return publishedSettings(config, poolSize);
  const common = publishedSettings(config, 2 * poolSize);
  const models = [...new Set([config.tabModel, config.defaultModel])];
  return { ...common, models, has_key: config.openai !== undefined };
}

const UPLOAD_CONNECTIONS = 3;

/**
 * An ingress has `DATABASE_POOL` connections for its own statements, as many for `/api` and the consent page, and some
 * for uploads.
 */
export function ingressSettings(config: BaseConfig): PublishedSettings {
  return publishedSettings(config, 2 * config.database.poolSize + UPLOAD_CONNECTIONS);
}

/** Connections for queues and wake-ups on PostgreSQL, bypassing any pooler. */
const QUEUE_CONNECTIONS = 5;

function publishedSettings(config: StoreConfig, poolConnections: number): PublishedSettings {
  const { database, redis } = config;
  const directConnections = database.url === database.directUrl ? poolConnections : 0;
  return {
    version: packageJson.version,
    queue: queueIdentity(config),
    connections: directConnections + (redis === undefined ? QUEUE_CONNECTIONS : 0),
  };
}

/** Names a queue, without revealing its address. */
export function queueIdentity({ database, redis, queuePrefix }: StoreConfig): string {
  const endpoint = redis === undefined ? endpointOf(database.directUrl, '5432') : redisEndpoint(redis);
  const hash = createHash('sha256').update(`${endpoint} ${queuePrefix}`).digest('hex').slice(0, 12);
  return `${redis === undefined ? 'PostgreSQL' : 'Redis'} ${hash}`;
}

function redisEndpoint(target: RedisTarget): string {
  if (target.kind === 'single') return endpointOf(target.url, '6379').replace(/\/?$/, '').replace(/\/0$/, '');
  const { kind, hosts } = target;
  const master = kind === 'sentinel' ? `/${target.name}/${target.db}` : '';
  return `${hosts.map(({ host, port }) => `${host}:${port}`).sort()}${master}`;
}

/** Leaves out the parts that may contain a password. */
function endpointOf(url: string, usualPort: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  return `${host === 'localhost' ? '127.0.0.1' : host}:${port || usualPort}${pathname}`;
}

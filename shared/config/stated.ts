import { createHash } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { BaseConfig, StoreConfig, WorkerConfig } from './config.ts';
import type { RedisTarget } from './values.ts';

/** Facts that a process states of its own configuration, so that two that differ are noticed. No secret and no address is in it. */
export interface StatedSettings {
  version: string;
  /** The queue's store, and a hash of where it is: the same for processes that share a queue. */
  queue: string;
  /** Connections that it opens to PostgreSQL itself at most. */
  connections: number;
  /** A worker's models, and whether it has a provider's key. */
  models?: string[];
  has_key?: boolean;
}

/** A worker has `DATABASE_POOL` connections for its own statements, and as many for its handlers. */
export function workerSettings(config: WorkerConfig): StatedSettings {
  const models = [...new Set([config.tabModel, config.defaultModel])];
  return {
    ...stated(config, 2 * config.database.poolSize),
    models,
    has_key: config.openai !== undefined,
  };
}

const UPLOADS = 3;

/** An ingress has as many again for what people manage, and some for uploads. */
export function ingressSettings(config: BaseConfig): StatedSettings {
  return stated(config, 2 * config.database.poolSize + UPLOADS);
}

/** Connections of a process for queues and wake-ups on PostgreSQL, past any pooler. */
const QUEUE = 5;

function stated(config: StoreConfig, pooled: number): StatedSettings {
  const { database, redis } = config;
  const own = database.url === database.directUrl ? pooled : 0;
  return {
    version: packageJson.version,
    queue: queueIdentity(config),
    connections: own + (redis === undefined ? QUEUE : 0),
  };
}

/** Names the queue of these settings without its address. */
export function queueIdentity({ database, redis, queuePrefix }: StoreConfig): string {
  const place = redis === undefined ? placeOf(database.directUrl, '5432') : redisPlace(redis);
  const hash = createHash('sha256').update(`${place} ${queuePrefix}`).digest('hex').slice(0, 12);
  return `${redis === undefined ? 'PostgreSQL' : 'Redis'} ${hash}`;
}

function redisPlace(target: RedisTarget): string {
  if (target.kind === 'single') return placeOf(target.url, '6379').replace(/\/?$/, '').replace(/\/0$/, '');
  const { kind, hosts } = target;
  const master = kind === 'sentinel' ? `/${target.name}/${target.db}` : '';
  return `${hosts.map(({ host, port }) => `${host}:${port}`).sort()}${master}`;
}

/** Host, port and path; nothing that a password may be in. */
function placeOf(url: string, usualPort: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  return `${host === 'localhost' ? '127.0.0.1' : host}:${port || usualPort}${pathname}`;
}

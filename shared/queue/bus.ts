import { Socket } from 'node:net';
import pg from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { RedisTarget } from '../config/values.ts';
import { query } from '../db/statement.ts';
import type { Log } from '../log.ts';
import { Rest } from '../timing/rest.ts';
import { retry } from '../timing/retry.ts';
import { connectRedis } from './redis.ts';

const RECONNECT = { firstMs: 50, longestMs: 2000 };
const PROBE = { everyMs: 5000, restingEveryMs: 30_000, withinMs: 2000 };
/**
 * TCP keep-alive detects a dead host, but not behind a proxy that answers for it. So connections are probed as well.
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Pub/sub: each message reaches every process that listens at that moment. */
export interface Bus {
  publish(messages: { channel: string; payload: string }[]): Promise<void>;
  /** Subscribes, also after each reconnection. Does not wait if Redis is down. */
  listen(channel: string, handle: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** Uses Redis if there is one, else PostgreSQL. While the connection that listens is broken, the process does not rest. */
export function openBus(
  { database, redis }: Pick<BaseConfig, 'database' | 'redis'>,
  pool: pg.Pool,
  log: Log,
  rest = new Rest(),
): Bus {
  return redis === undefined
    ? postgresBus(pool, new Listener(database.directUrl, log, rest))
    : redisBus(redis, log, rest);
}

/** Channel names have the installation's prefix, because all database numbers of a Redis share the channels. */
function redisBus(target: RedisTarget, log: Log, rest: Rest): Bus {
  const publisher = connectRedis(target, 'producer', log);
  const listener = connectRedis(target, 'listener', log);
  const handlers = new Map<string, (payload: string) => void>();
  listener.on('close', () => rest.hear());
  listener.on('message', (channel: string, payload: string) => handlers.get(channel)?.(payload));
  return {
    async publish(messages) {
      await Promise.all(messages.map(({ channel, payload }) => publisher.publish(channel, payload)));
    },
    async listen(channel, handle) {
      handlers.set(channel, handle);
      // Not awaited, so that a Redis that is down does not block. ioredis subscribes once Redis is back; until then,
      // polls make up for the missing messages.
      listener.subscribe(channel).catch((error: unknown) => log.warn({ err: error }, 'not subscribed'));
    },
    async close() {
      publisher.disconnect();
      listener.disconnect();
    },
  };
}

const NOTIFY = {
  name: 'notify_v1',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as w (channel, payload)',
};

/**
 * Publishes through the pool. One connection listens, bypassing any pooler, and is reopened whenever it breaks or falls
 * silent.
 */
function postgresBus(pool: pg.Pool, listener: Listener): Bus {
  return {
    async publish(messages) {
      const channels = messages.map(({ channel }) => channel);
      const payloads = messages.map(({ payload }) => payload);
      // One statement for all messages, because each NOTIFY takes a database-wide lock.
      await query(pool, NOTIFY, [channels, payloads]);
    },
    listen: (channel, handle) => listener.listen(channel, handle),
    close: async () => listener.close(),
  };
}

class Listener {
  readonly #url: string;
  readonly #log: Log;
  readonly #rest: Rest;
  readonly #handlers = new Map<string, (payload: string) => void>();
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;

  constructor(url: string, log: Log, rest: Rest) {
    this.#url = url;
    this.#log = log;
    this.#rest = rest;
  }

  async listen(channel: string, handle: (payload: string) => void): Promise<void> {
    this.#handlers.set(channel, handle);
    if (this.#client === undefined) await this.#open();
    else await this.#client.query(`listen ${pg.escapeIdentifier(channel)}`);
  }

  async #open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 2000,
      query_timeout: PROBE.withinMs,
      ...KEEP_ALIVE,
      application_name: 'forecue wake-ups',
    });
    client.on('error', (error) => this.#log.warn({ err: error }, 'wake-up connection'));
    client.on('notification', ({ channel, payload }) => this.#handlers.get(channel)?.(payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.#handlers.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      disconnect(client);
      throw error;
    }
    this.#client = client;
    probeListener(client, this.#rest);
    client.once('end', () => {
      this.#rest.hear();
      void this.#reopen();
    });
    // The bus may have been closed while the client connected.
    if (this.#closing.signal.aborted) disconnect(client);
  }

  close(): void {
    this.#closing.abort();
    if (this.#client !== undefined) disconnect(this.#client);
  }

  async #reopen(): Promise<void> {
    const { signal } = this.#closing;
    const open = () =>
      this.#open().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'wake-up connection');
        this.#rest.hear();
        throw error;
      });
    // Rejects only when the bus is closed.
    await retry(open, { ...RECONNECT, signal }).catch(() => {});
  }
}

/** Breaks a connection that does not answer. One that only listens would not notice that the server is gone. */
export function probeListener(client: pg.Client, rest: Rest): void {
  const probe = () => client.query('select 1').catch((error: Error) => socketOf(client)?.destroy(error));
  const probes = rest.every(PROBE.everyMs, PROBE.restingEveryMs, probe, { ref: false });
  client.once('end', () => void probes.stop());
}

function disconnect(client: pg.Client): void {
  client.end().catch(() => {});
  socketOf(client)?.destroySoon();
}

function socketOf({ connection }: { connection?: { stream?: unknown } }): Socket | undefined {
  return connection?.stream instanceof Socket ? connection.stream : undefined;
}

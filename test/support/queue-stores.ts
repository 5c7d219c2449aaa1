import type { BaseConfig } from '../../shared/config/config.ts';
import { parseRedisUrl, type RedisTarget } from '../../shared/config/values.ts';
import { createLog } from '../../shared/log.ts';
import { connectRedis, type RedisClient } from '../../shared/queue/redis.ts';
import { type TestDatabase, useDatabase } from './database.ts';
import { describeWithRedis, type RedisServer, useRedisServer } from './redis-server.ts';
import { type SilentProxy, startSilentProxy } from './silent-proxy.ts';

export type QueueConfig = Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>;

/** A store for one suite's queues, and a proxy to it that can fall silent. */
export interface QueueStore {
  /** Configuration that leads straight to the store, or through the proxy. */
  config(proxy?: SilentProxy): QueueConfig;
  proxy(): Promise<SilentProxy>;
  waiting(queue: string): Promise<number>;
  database: TestDatabase;
}

/** Describes the suite once for each store that this machine has. */
export function describeOnEachStore(
  title: string,
  suite: (this: Mocha.Suite, store: () => QueueStore, kind: 'PostgreSQL' | 'Redis') => void,
): void {
  describe(`${title}, on PostgreSQL`, function () {
    const database = useDatabase();
    suite.call(this, () => onPostgres(database), 'PostgreSQL');
  });
  describeWithRedis(`${title}, on Redis`, function () {
    const database = useDatabase({ empty: true });
    const redis = useRedisServer();
    let client: RedisClient;
    before(() => {
      client = connectRedis(targetOf(redis.url), 'consumer', createLog('test', 'silent'));
    });
    suite.call(this, () => onRedis(database, redis, client), 'Redis');
    after(() => client?.disconnect());
  });
}

function onPostgres(database: TestDatabase): QueueStore {
  return {
    config(proxy) {
      const url = new URL(database.url);
      if (proxy !== undefined) url.host = new URL(proxy.url).host;
      const urls = { url: database.url, directUrl: url.href };
      return { database: { ...urls, poolSize: 4 }, queuePrefix: 'forecue', redis: undefined };
    },
    proxy: () => startSilentProxy(database.url),
    async waiting(queue) {
      const { rows } = await database.pool.query<{ n: number }>(
        `select count(*)::int as n from forecue_queue.job where state = 'waiting' and queue = $1`,
        [queue],
      );
      return rows[0]?.n ?? 0;
    },
    database,
  };
}

function onRedis(database: TestDatabase, redis: RedisServer, client: RedisClient): QueueStore {
  return {
    config: (proxy) => ({
      database: { url: database.url, directUrl: database.url, poolSize: 4 },
      queuePrefix: 'forecue',
      redis: targetOf(proxy?.url ?? redis.url),
    }),
    proxy: () => startSilentProxy(redis.url),
    waiting: (queue) => client.llen(`{forecue}:${queue}:wait`),
    database,
  };
}

function targetOf(url: string): RedisTarget {
  const target = parseRedisUrl(url);
  if (target === undefined) throw new Error(`no address of a Redis: ${url}`);
  return target;
}

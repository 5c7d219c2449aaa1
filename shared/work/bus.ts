import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import { notify } from '../db/notify.ts';
import type { Log } from '../log.ts';
import type { Bus } from '../queue/bus.ts';
import { postgresBus } from '../queue/postgres-bus.ts';
import { redisBus } from '../queue/redis-bus.ts';

/** A bus on the store that also has the queues: pub/sub of Redis, or NOTIFY of PostgreSQL. */
export function createBus(config: Pick<BaseConfig, 'database' | 'redis'>, pool: Pool, log: Log): Bus {
  return config.redis === undefined
    ? postgresBus((messages) => notify(pool, messages), config.database, log)
    : redisBus(config.redis, log);
}

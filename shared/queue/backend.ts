import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { postgresQueues } from './postgres-queues.ts';
import type { Queues } from './queues.ts';
import { redisQueues } from './redis-queues.ts';

/** The queues on Redis where there is one, else on PostgreSQL. */
export async function openQueues(
  config: Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>,
  log: Log,
): Promise<Queues> {
  return config.redis === undefined
    ? postgresQueues(config, log)
    : redisQueues(config.redis, config.queuePrefix, log);
}

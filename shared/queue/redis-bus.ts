import type { RedisTarget } from '../config/redis-url.ts';
import type { Log } from '../log.ts';
import type { Bus } from './bus.ts';
import { connectRedis } from './redis.ts';

/**
 * Pub/sub of Redis. The listening connection subscribes again by itself whenever it breaks. Channels ignore the database
 * number: the prefix in their names keeps installations apart.
 */
export function redisBus(target: RedisTarget, log: Log): Bus {
  const publisher = connectRedis(target, 'producer', log);
  const listener = connectRedis(target, 'listener', log);
  const hearing = new Map<string, (payload: string) => void>();
  listener.on('message', (channel: string, payload: string) => hearing.get(channel)?.(payload));
  return {
    async publish(messages) {
      await Promise.all(messages.map(({ channel, payload }) => publisher.publish(channel, payload)));
    },
    async listen(channel, hear) {
      hearing.set(channel, hear);
      // Not awaited: while the server is down the polls suffice, and ioredis subscribes when it is back.
      listener.subscribe(channel).catch((error: unknown) => log.warn({ err: error }, 'not subscribed'));
    },
    async close() {
      publisher.disconnect();
      listener.disconnect();
    },
  };
}

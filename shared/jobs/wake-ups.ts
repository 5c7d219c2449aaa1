import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import { batcher } from '../db/batcher.ts';
import type { Log } from '../log.ts';
import { postgresBus } from './postgres-bus.ts';
import { redisBus } from './redis-bus.ts';

/** `ended`: to every ingress, whose callers may wait. `cancel`: to every worker, which may be running it. */
export type Channel = 'ended' | 'cancel';

/** A notification of PostgreSQL holds 8,000 bytes at most. */
const MOST_IDS = 200;

/**
 * Messages that say "look at these rows" and carry nothing else. Any of them may be lost, late or doubled: whoever
 * waits polls its rows each second all the same. They are sent after the commit; sending does not wait and cannot fail.
 */
export interface WakeUps {
  /** Work has ended: whoever waits for it, or runs it, is to look. */
  ended(ids: readonly string[]): void;
  /** The same, of work that its own worker ended: nobody else runs it. */
  completed(ids: readonly string[]): void;
  close(): Promise<void>;
}

/** Wake-ups by the store that also has the queues: publish/subscribe of Redis, or NOTIFY of PostgreSQL. */
export async function openWakeUps(
  config: Pick<BaseConfig, 'database' | 'queuePrefix' | 'redis'>,
  pool: Pool,
  listener: { channel: Channel; wake: (ids: readonly string[]) => void },
  log: Log,
): Promise<WakeUps> {
  const nameOf = (channel: Channel) => `${config.queuePrefix}_${channel}`;
  const bus =
    config.redis === undefined ? postgresBus(pool, config.database, log) : redisBus(config.redis, log);
  await bus.listen(nameOf(listener.channel), (payload) => listener.wake(payload.split(',')));

  /** Ids that come while a message is in flight go together in the next one. */
  const publish = batcher(
    async (batch: { channel: Channel; id: string }[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const messages = byChannel.map(([channel, wakeUps]) => ({
        channel: nameOf(channel),
        payload: wakeUps.map(({ id }) => id).join(','),
      }));
      // The polls find the rows of what could not be sent.
      await bus
        .publish(messages)
        .catch((error: unknown) => log.warn({ err: error, count: batch.length }, 'wake-ups not sent'));
      return batch.map(() => undefined);
    },
    { most: MOST_IDS },
  );

  let last = Promise.resolve();
  const send = (channel: Channel, ids: readonly string[]) => {
    // This process need not wait for its own message.
    if (channel === listener.channel) listener.wake(ids);
    for (const id of ids) last = publish({ channel, id });
  };
  return {
    ended(ids) {
      send('ended', ids);
      send('cancel', ids);
    },
    completed: (ids) => send('ended', ids),
    async close() {
      await last;
      await bus.close();
    },
  };
}

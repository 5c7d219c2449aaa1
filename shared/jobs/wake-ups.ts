import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BaseConfig } from '../config/config.ts';
import { combine } from '../db/combine.ts';
import { query } from '../db/statement.ts';
import type { Log } from '../log.ts';

/** `ended`: to every ingress, whose callers may wait. `cancel`: to every worker, which may be running it. */
export type Channel = 'ended' | 'cancel';

/** A notification holds 8,000 bytes at most. */
const MOST_IDS = 200;

const NOTIFY = {
  name: 'notify_v1',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as w (channel, payload)',
};

/**
 * Messages that say "look at these rows" and carry nothing else. Any of them may be lost, late or doubled: whoever
 * waits re-reads its rows each second all the same.
 */
export interface WakeUps {
  /** Sends after the commit; does not wait and does not fail. */
  send(channel: Channel, ids: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * Wake-ups by LISTEN and NOTIFY. One connection listens, and is made again whenever it breaks; ids to send are
 * collected while a notification is in flight, because each one takes a lock of the whole database.
 */
export async function openWakeUps(
  config: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  pool: pg.Pool,
  listener: { channel: Channel; wake: (ids: string[]) => void } | undefined,
  log: Log,
): Promise<WakeUps> {
  const notify = notifier(pool, config.queuePrefix, log);
  const stopListening = listener && (await listen(config, listener, log));
  let last = Promise.resolve();
  return {
    send(channel, ids) {
      for (const id of ids) last = notify({ channel, id });
    },
    async close() {
      await last;
      await stopListening?.();
    },
  };
}

/** One statement for all that came together. A wake-up that could not be sent is only logged: the sweeps find its rows. */
function notifier(
  pool: pg.Pool,
  prefix: string,
  log: Log,
): (wakeUp: { channel: Channel; id: string }) => Promise<void> {
  return combine(
    async (batch: { channel: Channel; id: string }[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const channels = byChannel.map(([channel]) => channelName(prefix, channel));
      const payloads = byChannel.map(([, wakeUps]) => wakeUps.map(({ id }) => id).join(','));
      await query(pool, NOTIFY, [channels, payloads]).catch((error: unknown) =>
        log.warn({ err: error, count: batch.length }, 'wake-ups not sent'),
      );
      return batch.map(() => undefined);
    },
    { most: MOST_IDS },
  );
}

async function listen(
  config: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  { channel, wake }: { channel: Channel; wake: (ids: string[]) => void },
  log: Log,
): Promise<() => Promise<void>> {
  let client: pg.Client | undefined;
  let stopped = false;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      connectionString: config.database.directUrl,
      connectionTimeoutMillis: 2000,
      keepAlive: true,
      application_name: 'forecue wake-ups',
    });
    fresh.on('error', (error) => log.warn({ err: error }, 'wake-up connection'));
    fresh.on('notification', ({ payload }) => wake(payload?.split(',') ?? []));
    await fresh.connect();
    await fresh.query(`listen ${pg.escapeIdentifier(channelName(config.queuePrefix, channel))}`);
    fresh.once('end', () => void reconnect());
    client = fresh;
  }

  async function reconnect(): Promise<void> {
    for (let delay = 50; !stopped; delay = Math.min(delay * 2, 2000)) {
      try {
        return await connect();
      } catch (error) {
        log.warn({ err: error }, 'wake-up connection');
        await sleep(delay * (0.5 + Math.random()));
      }
    }
  }

  await connect();
  return async () => {
    stopped = true;
    await client?.end();
  };
}

function channelName(prefix: string, channel: Channel): string {
  return `${prefix}_${channel}`;
}

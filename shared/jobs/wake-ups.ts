import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';

/** `ended`: to every ingress, whose callers may wait. `cancel`: to every worker, which may be running it. */
export type Channel = 'ended' | 'cancel';

/** A notification holds 8,000 bytes at most. */
const MOST_IDS = 200;

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
  const sender = new Sender(pool, config.queuePrefix, log);
  const stopListening = listener && (await listen(config, listener, log));
  return {
    send: (channel, ids) => sender.send(channel, ids),
    async close() {
      await sender.drained();
      await stopListening?.();
    },
  };
}

class Sender {
  readonly #pool: pg.Pool;
  readonly #prefix: string;
  readonly #log: Log;
  readonly #waiting: Record<Channel, Set<string>> = { ended: new Set(), cancel: new Set() };
  #flushing: Promise<void> | undefined;

  constructor(pool: pg.Pool, prefix: string, log: Log) {
    this.#pool = pool;
    this.#prefix = prefix;
    this.#log = log;
  }

  send(channel: Channel, ids: readonly string[]): void {
    for (const id of ids) this.#waiting[channel].add(id);
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
  }

  async drained(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      try {
        await this.#pool.query({
          name: 'wake_up_v1',
          text: 'select pg_notify($1, $2)',
          values: [channelName(this.#prefix, next.channel), next.ids.join(',')],
        });
      } catch (error) {
        this.#log.warn({ err: error, channel: next.channel }, 'wake-up not sent');
      }
    }
  }

  #take(): { channel: Channel; ids: string[] } | undefined {
    for (const channel of ['cancel', 'ended'] as const) {
      const ids = [...this.#waiting[channel]].slice(0, MOST_IDS);
      if (ids.length === 0) continue;
      for (const id of ids) this.#waiting[channel].delete(id);
      return { channel, ids };
    }
    return undefined;
  }
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

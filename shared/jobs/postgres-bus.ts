import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BaseConfig } from '../config/config.ts';
import { query } from '../db/statement.ts';
import type { Log } from '../log.ts';
import type { Bus } from './bus.ts';
import { KEEP_ALIVE, PULSE_EVERY_MS, PULSE_WITHIN_MS, socketOf } from './postgres-pulse.ts';

const NOTIFY = {
  name: 'notify_v1',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as w (channel, payload)',
};

const LONGEST_RETRY_MS = 2000;

/**
 * LISTEN and NOTIFY. One connection listens, past any pooler, and is made again whenever it breaks or falls silent. Many
 * messages go in one statement, because each takes a lock of the whole database.
 */
export function postgresBus(pool: pg.Pool, { directUrl }: BaseConfig['database'], log: Log): Bus {
  const subscriptions: Subscription[] = [];
  return {
    async publish(messages) {
      const channels = messages.map(({ channel }) => channel);
      const payloads = messages.map(({ payload }) => payload);
      await query(pool, NOTIFY, [channels, payloads]);
    },
    async listen(channel, hear) {
      const subscription = new Subscription(directUrl, channel, hear, log);
      subscriptions.push(subscription);
      await subscription.open();
    },
    async close() {
      await Promise.all(subscriptions.map((one) => one.close()));
    },
  };
}

class Subscription {
  readonly #url: string;
  readonly #channel: string;
  readonly #hear: (payload: string) => void;
  readonly #log: Log;
  #client: pg.Client | undefined;
  #closed = false;

  constructor(url: string, channel: string, hear: (payload: string) => void, log: Log) {
    this.#url = url;
    this.#channel = channel;
    this.#hear = hear;
    this.#log = log;
  }

  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 2000,
      query_timeout: PULSE_WITHIN_MS,
      ...KEEP_ALIVE,
      application_name: 'forecue wake-ups',
    });
    client.on('error', (error) => this.#log.warn({ err: error }, 'wake-up connection'));
    client.on('notification', ({ payload }) => this.#hear(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(this.#channel)}`);
    } catch (error) {
      leave(client);
      throw error;
    }
    this.#client = client;
    const pulse = setInterval(() => beat(client), PULSE_EVERY_MS).unref();
    client.once('end', () => {
      clearInterval(pulse);
      void this.#reopen();
    });
    // Closed while it connected.
    if (this.#closed) leave(client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#client !== undefined) leave(this.#client);
  }

  async #reopen(): Promise<void> {
    for (let delay = 50; !this.#closed; delay = Math.min(delay * 2, LONGEST_RETRY_MS)) {
      try {
        return await this.open();
      } catch (error) {
        this.#log.warn({ err: error }, 'wake-up connection');
        await sleep(delay * (0.5 + Math.random()));
      }
    }
  }
}

/** Whoever only listens would never learn that nobody is there any more. */
function beat(client: pg.Client): void {
  client.query('select 1').catch((error: Error) => socketOf(client)?.destroy(error));
}

/** Says goodbye, and does not wait for a server that may not be there. */
function leave(client: pg.Client): void {
  client.end().catch(() => {});
  socketOf(client)?.destroySoon();
}

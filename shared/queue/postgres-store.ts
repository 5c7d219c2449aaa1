import {
  assertSchemaCompatibility,
  type BackendFactory,
  PostgresConnection,
  type PostgresPoolConfig,
  PostgresQueueBackend,
  runMigrations,
} from 'bullmq';
import pg from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { assertTakesWrites } from '../primary.ts';
import { KEEP_ALIVE } from './bus.ts';

/** Returns the name of the PostgreSQL schema that contains the tables of the queue. */
export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`;
}

/** Brings the queue's own tables up to date. */
export async function migrateQueueSchema(client: pg.ClientBase, prefix: string): Promise<void> {
  await runMigrations(client, queueSchema(prefix));
}

/** Rejects unless the queue's own tables exist and are up to date. */
export async function assertQueueReady(pool: pg.Pool, prefix: string): Promise<void> {
  const client = await pool.connect();
  try {
    await assertSchemaCompatibility(client, queueSchema(prefix));
  } finally {
    client.release();
  }
}

/** Creates BullMQ's backend on our shared connection. */
const createBackend: BackendFactory<PostgresQueueBackend, SharedConnection> = (
  name,
  opts,
  { withBlockingConnection = false } = {},
) => {
  const { connection } = opts;
  const options = { ...opts, connection: connection.pool };
  return new PostgresQueueBackend(connection, name, options, withBlockingConnection);
};

/**
 * Opens the store of BullMQ's queues on PostgreSQL. Commits do not wait for the disk, because a ticket may be lost: the
 * truth is in the rows of work. BullMQ's own notifications wake an idle worker within milliseconds.
 */
export function postgresStore(
  { database, queuePrefix }: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  log: Log,
) {
  const connection = new SharedConnection({
    connectionString: database.directUrl,
    schema: queueSchema(queuePrefix),
    application_name: 'forecue queue',
    max: 3,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
    options: '-c synchronous_commit=off',
    onConnect: assertTakesWrites,
  });
  connection.on('error', (error) => log.warn({ err: error }, 'queue connection'));
  return {
    factory: createBackend,
    producer: { connection },
    consumer: () => ({ connection }),
    ping: () => connection.pool.query('select 1'),
    close: () => connection.end(),
  };
}

/**
 * BullMQ's connections to PostgreSQL, which all queues and workers of a process share. If a connection falls silent
 * without ending, tickets are delayed by ten seconds at most: a fetch times out, and the next one uses a new
 * connection.
 */
export class SharedConnection extends PostgresConnection {
  readonly #config: PostgresPoolConfig;
  #listener: Promise<pg.Client> | undefined;

  constructor(config: PostgresPoolConfig) {
    super({ ...config, ...KEEP_ALIVE });
    this.#config = config;
  }

  /**
   * Does nothing: the process has checked the schema when it started. BullMQ 6.7 never repeats its own check once it
   * has failed, so a process that starts while PostgreSQL stops would never use its queue.
   */
  override async waitUntilReady(): Promise<void> {}

  /**
   * Replaces BullMQ's own method, which handles errors only once it is connected: a server that accepts a connection
   * and ends it in the same packet would crash this process.
   */
  override getListenClient(): Promise<pg.Client> {
    this.#listener ??= this.#listen();
    return this.#listener;
  }

  /**
   * Does nothing: each worker calls it on closing, but other workers still use the shared connections. `end` closes
   * them.
   */
  override async close(): Promise<void> {}

  async end(): Promise<void> {
    const listener = await this.#listener?.catch(() => undefined);
    await Promise.all([listener?.end(), super.close()]);
  }

  async #listen(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, ...KEEP_ALIVE });
    client.on('error', (error) => this.emit('error', error));
    // Fires on every end, even of a failed attempt to connect, and makes workers ask for a new listener.
    client.once('end', () => {
      this.#listener = undefined;
      this.emit('listenerinvalidated');
    });
    await client.connect();
    return client;
  }
}

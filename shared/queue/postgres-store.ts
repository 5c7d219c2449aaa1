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
import type { Rest } from '../timing/rest.ts';
import { KEEP_ALIVE, probeListener } from './bus.ts';

export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`;
}

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
 * Each wait for a job and each look for jobs of dead workers takes several statements. Rare ones suffice: jobs wake a
 * worker, and the heartbeats and looks of the process find work without a job.
 */
const IDLE_PACE = { drainDelay: 300, stalledInterval: 300_000 };

/** Turns off `synchronous_commit`: a lost job does no harm, because the rows of work are the truth. */
export function postgresStore(
  { database, queuePrefix }: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  log: Log,
  rest: Rest,
) {
  const config = {
    connectionString: database.directUrl,
    schema: queueSchema(queuePrefix),
    application_name: 'forecue queue',
    max: 3,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
    options: '-c synchronous_commit=off',
    onConnect: assertTakesWrites,
  };
  const connection = new SharedConnection(config, rest);
  connection.on('error', (error) => log.warn({ err: error }, 'queue connection'));
  return {
    factory: createBackend,
    producer: { connection },
    consumer: () => ({ connection, ...IDLE_PACE }),
    ping: () => connection.pool.query('select 1'),
    close: () => connection.end(),
  };
}

/** BullMQ's connections to PostgreSQL, shared by all queues and workers of a process. */
class SharedConnection extends PostgresConnection {
  readonly #config: PostgresPoolConfig;
  readonly #rest: Rest;
  #listener: Promise<pg.Client> | undefined;

  constructor(config: PostgresPoolConfig, rest: Rest) {
    super({ ...config, ...KEEP_ALIVE });
    this.#config = config;
    this.#rest = rest;
  }

  /**
   * Skips BullMQ's schema check, which BullMQ 6.7 never repeats once it has failed. The process checks the schema at
   * its start.
   */
  override async waitUntilReady(): Promise<void> {}

  /**
   * Replaces BullMQ's method, which adds its error handler too late: a server that closes a new connection at once
   * would crash the process.
   */
  override getListenClient(): Promise<pg.Client> {
    this.#listener ??= this.#listen();
    return this.#listener;
  }

  /** Does nothing. Each closing worker calls it, but the other workers still use the shared connections. */
  override async close(): Promise<void> {}

  async end(): Promise<void> {
    const listener = await this.#listener?.catch(() => undefined);
    await Promise.all([listener?.end(), super.close()]);
  }

  async #listen(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, ...KEEP_ALIVE });
    client.on('error', (error) => this.emit('error', error));
    // `end` also fires if connecting fails. `listenerinvalidated` makes workers ask for a new listener.
    client.once('end', () => {
      this.#listener = undefined;
      this.emit('listenerinvalidated');
    });
    await client.connect();
    probeListener(client, this.#rest);
    return client;
  }
}

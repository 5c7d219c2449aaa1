import { PostgresConnection, type PostgresPoolConfig } from 'bullmq';
import pg from 'pg';
import { KEEP_ALIVE } from './postgres-bus.ts';

/**
 * BullMQ's connections to PostgreSQL, which all queues and workers of a process share. One that falls silent without ending
 * costs ten seconds of promptness at most: a fetch fails after its time-out, and the next one is made on a new connection.
 */
export class SharedConnection extends PostgresConnection {
  readonly #config: PostgresPoolConfig;
  #listener: Promise<pg.Client> | undefined;

  constructor(config: PostgresPoolConfig) {
    super({ ...config, ...KEEP_ALIVE });
    this.#config = config;
  }

  /**
   * The boot has checked the schema. BullMQ 6.7 never repeats its own check once that has failed, so a process that
   * starts while PostgreSQL stops would never use its queue.
   */
  override async waitUntilReady(): Promise<void> {}

  /**
   * BullMQ's own handles errors only once it is connected: a server that ends a connection in the packet with which it
   * accepts it would end this process.
   */
  override getListenClient(): Promise<pg.Client> {
    this.#listener ??= this.#listen();
    return this.#listener;
  }

  /** Does nothing: each worker calls it for itself. */
  override async close(): Promise<void> {}

  async end(): Promise<void> {
    const listener = await this.#listener?.catch(() => undefined);
    await Promise.all([listener?.end(), super.close()]);
  }

  async #listen(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, ...KEEP_ALIVE });
    client.on('error', (error) => this.emit('error', error));
    // However it ends, and when it could not connect: workers then ask for another one.
    client.once('end', () => {
      this.#listener = undefined;
      this.emit('listenerinvalidated');
    });
    await client.connect();
    return client;
  }
}

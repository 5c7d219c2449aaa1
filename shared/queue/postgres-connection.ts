import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresConnection, type PostgresPoolConfig } from 'bullmq';
import { every, type Repeated } from '../every.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import { ListeningClient } from './listening-client.ts';
import { type Connected, PULSE_EVERY_MS, socketOf } from './postgres-pulse.ts';

const SILENT = 'the connection does not answer';

/**
 * BullMQ's connections to PostgreSQL with a keep-alive query: one that falls silent without ending is closed and
 * reopened. Needs a `query_timeout`, within which the keep-alive query must be answered.
 */
export class PulsedConnection extends PostgresConnection {
  readonly #sockets = new Set<Socket>();
  readonly #pulse: Repeated;
  #listener: Awaited<ReturnType<PostgresConnection['getListenClient']>> | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: PostgresPoolConfig & { query_timeout: number }) {
    super(config);
    // Private to BullMQ: `test/unit/queue/postgres-connection.test.ts` fails where it has another name.
    Object.assign(this, { pgModule: { Client: ListeningClient } });
    this.pool.on('connect', (client) => this.#track(client));
    this.#pulse = every(PULSE_EVERY_MS, () => this.#beat(), { ref: false });
  }

  /**
   * The boot has checked the schema. BullMQ 6.7 never repeats its own check once that has failed, so a process that
   * starts while PostgreSQL stops would never use its queue.
   */
  override async waitUntilReady(): Promise<void> {}

  override async getListenClient() {
    const listener = await super.getListenClient();
    if (listener !== this.#listener) {
      this.#listener = listener;
      this.#track(listener);
    }
    return listener;
  }

  /** Resolves within 1 s and leaves no socket open, whatever the server does. */
  override close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#pulse.stop();
    await Promise.race([super.close(), sleep(STOP_LIMITS.connection)]).catch(() => {});
    for (const socket of this.#sockets) socket.destroy();
  }

  #beat(): void {
    // The pool itself drops a client that did not answer.
    this.pool.query('select 1').catch(() => {});
    const listener = this.#listener;
    // BullMQ listens on a new connection once this one ends with an error.
    listener?.query('select 1').catch(() => socketOf(listener)?.destroy(new Error(SILENT)));
  }

  #track(client: Connected): void {
    const socket = socketOf(client);
    if (socket === undefined) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

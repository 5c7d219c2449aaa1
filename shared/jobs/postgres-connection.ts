import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresConnection, type PostgresPoolConfig } from 'bullmq';
import { type Connected, PULSE_EVERY_MS, socketOf } from './postgres-pulse.ts';

const CLOSE_WITHIN_MS = 1000;
const SILENT = 'the connection does not answer';

/**
 * BullMQ's connections to PostgreSQL, with a pulse: what falls silent without an end is given up and made again. Needs
 * a `query_timeout`, which is the time in which a pulse is to be answered.
 */
export class PulsedConnection extends PostgresConnection {
  readonly #sockets = new Set<Socket>();
  readonly #pulse: NodeJS.Timeout;
  #listener: Awaited<ReturnType<PostgresConnection['getListenClient']>> | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: PostgresPoolConfig & { query_timeout: number }) {
    super(config);
    this.pool.on('connect', (client) => this.#track(client));
    this.#pulse = setInterval(() => this.#beat(), PULSE_EVERY_MS).unref();
  }

  /**
   * The boot has checked the schema. BullMQ 6.7 would remember a failure of its own check for ever, so that a process
   * which starts as PostgreSQL stops would never use its queue.
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

  /** Resolves within 1 s, and leaves no socket open, whatever the server does. */
  override close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#pulse);
    await Promise.race([super.close(), sleep(CLOSE_WITHIN_MS)]).catch(() => {});
    for (const socket of this.#sockets) socket.destroy();
  }

  #beat(): void {
    // The pool itself drops a client that did not answer.
    this.pool.query('select 1').catch(() => {});
    const listener = this.#listener;
    // BullMQ listens on a new connection when this one ends with an error.
    listener?.query('select 1').catch(() => socketOf(listener)?.destroy(new Error(SILENT)));
  }

  #track(client: Connected): void {
    const socket = socketOf(client);
    if (socket === undefined) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Maximum requests that wait on one connection. Beyond it, the connection is not read until fewer requests wait. */
const WAITING_PER_CONNECTION_MAX = 16;
/**
 * Maximum requests that wait on all connections together. Beyond it, a connection with
 * `WAITING_PER_CONNECTION_MAX` waiting requests is closed when another arrives: a single read can bring thousands of
 * tiny requests.
 */
const ALL_WAITING_MAX = 10_000;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  socket: Duplex;
  running: IncomingMessage | undefined;
  waiting: Exchange[];
  isPaused: boolean;
  /** True if Node will send no further answer on the connection. */
  isOver: boolean;
  close?: () => void;
}

/**
 * Handles the pipelined requests of a connection one at a time, in their order (RFC 9112, 9.3.2). Node itself would
 * start all of them at once, and keep all answers in memory.
 */
export class SocketTurns {
  readonly #handle: RequestListener;
  readonly #connections = new WeakMap<Duplex, Connection>();
  #waiting = 0;

  constructor(handle: RequestListener) {
    this.#handle = handle;
  }

  readonly handle: RequestListener = (request, response) => {
    const connection = this.#connectionOf(request.socket);
    if (connection.isOver) return;
    if (connection.running === undefined) this.#start(connection, { request, response });
    else this.#wait(connection, { request, response });
  };

  /**
   * For input that ends a connection, such as a protocol error. Calls `close` once the earlier requests are answered.
   * Calls it immediately if there are none, or if the input is part of the body of the request being answered.
   */
  close(socket: Duplex, close: () => void): void {
    const connection = this.#connectionOf(socket);
    if (!connection.running?.complete) {
      close();
      return;
    }
    if (connection.waiting.at(-1)?.request.complete === false) this.#forget(connection.waiting.splice(-1));
    connection.close = close;
    // Stops reading, because the parser would fail again on all further input.
    pauseReading(connection);
  }

  #connectionOf(socket: Duplex): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = { socket, running: undefined, waiting: [], isPaused: false, isOver: false };
    this.#connections.set(socket, connection);
    return connection;
  }

  #start(connection: Connection, { request, response }: Exchange): void {
    connection.running = request;
    response.once('close', () => this.#next(connection));
    this.#handle(request, response);
  }

  #wait(connection: Connection, exchange: Exchange): void {
    if (connection.waiting.length >= WAITING_PER_CONNECTION_MAX) {
      if (this.#waiting >= ALL_WAITING_MAX) connection.socket.destroy();
      pauseReading(connection);
    }
    connection.waiting.push(exchange);
    this.#waiting += 1;
  }

  #next(connection: Connection): void {
    const [next] = this.#forget(connection.waiting.splice(0, 1));
    if (next?.response.socket === null) {
      connection.isOver = true;
      this.#forget(connection.waiting.splice(0));
      return;
    }
    if (next === undefined) {
      connection.running = undefined;
      resumeReading(connection);
      connection.close?.();
      return;
    }
    if (connection.close === undefined && connection.waiting.length < WAITING_PER_CONNECTION_MAX)
      resumeReading(connection);
    // Clears the socket time-out that was set for the previous answer.
    next.request.socket.setTimeout(0);
    this.#start(connection, next);
  }

  #forget(exchanges: Exchange[]): Exchange[] {
    this.#waiting -= exchanges.length;
    return exchanges;
  }
}

/** Pauses reading until `resumeReading`. Node resumes after each body and answer; `pauseAgain` undoes that. */
function pauseReading(connection: Connection): void {
  if (connection.isPaused) return;
  connection.isPaused = true;
  connection.socket.pause().on('resume', pauseAgain);
}

function resumeReading(connection: Connection): void {
  if (!connection.isPaused) return;
  connection.isPaused = false;
  connection.socket.off('resume', pauseAgain).resume();
}

function pauseAgain(this: Duplex): void {
  this.pause();
}

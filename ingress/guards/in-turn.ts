import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests that wait on one connection behind the one being answered, before reading from it pauses. */
const WAITING_MAX = 16;
/**
 * Requests that may wait on all connections together. Beyond, a connection that brings more than `WAITING_MAX` is cut
 * off: a single read can bring thousands of tiny requests.
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
  isHeld: boolean;
  /** True if Node will send no further answer on the connection. */
  isOver: boolean;
  close?: () => void;
}

/**
 * Handles the requests of a connection one at a time, each once the previous one is answered (RFC 9112, 9.3.2). Node
 * hands over all pipelined requests at once, and would hold all their answers.
 */
export class ConnectionTurns {
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
   * Calls `close` after input that ends a connection, such as a protocol error, once the requests before it are
   * answered; immediately if none is open, or if the input is in the body of the request being answered.
   */
  close(socket: Duplex, close: () => void): void {
    const connection = this.#connectionOf(socket);
    if (!connection.running?.complete) {
      close();
      return;
    }
    if (connection.waiting.at(-1)?.request.complete === false) this.#forget(connection.waiting.splice(-1));
    connection.close = close;
    // The parser would fail again on everything that follows.
    hold(connection);
  }

  #connectionOf(socket: Duplex): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = { socket, running: undefined, waiting: [], isHeld: false, isOver: false };
    this.#connections.set(socket, connection);
    return connection;
  }

  #start(connection: Connection, { request, response }: Exchange): void {
    connection.running = request;
    response.once('close', () => this.#next(connection));
    this.#handle(request, response);
  }

  #wait(connection: Connection, exchange: Exchange): void {
    if (connection.waiting.length >= WAITING_MAX) {
      if (this.#waiting >= ALL_WAITING_MAX) connection.socket.destroy();
      hold(connection);
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
      release(connection);
      connection.close?.();
      return;
    }
    if (connection.close === undefined && connection.waiting.length < WAITING_MAX) release(connection);
    // Clears the previous answer's time-out for a client that does not read.
    next.request.socket.setTimeout(0);
    this.#start(connection, next);
  }

  #forget(exchanges: Exchange[]): Exchange[] {
    this.#waiting -= exchanges.length;
    return exchanges;
  }
}

/** Pauses reading until `release`: Node itself resumes after every body that is read and every answer that ends. */
function hold(connection: Connection): void {
  if (connection.isHeld) return;
  connection.isHeld = true;
  connection.socket.pause().on('resume', pauseAgain);
}

function release(connection: Connection): void {
  if (!connection.isHeld) return;
  connection.isHeld = false;
  connection.socket.off('resume', pauseAgain).resume();
}

function pauseAgain(this: Duplex): void {
  this.pause();
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Number of requests that wait on one connection, behind the one being answered, at which reading from it pauses. */
const WAITING_MAX = 16;
/**
 * Number of requests that wait on all connections at which a connection with `WAITING_MAX` of them is cut off: a single
 * read can bring thousands of tiny requests.
 */
const ALL_WAITING_MAX = 10_000;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A connection: the request being answered, the requests that wait, and how to close it after them. */
interface Line {
  socket: Duplex;
  running: IncomingMessage | undefined;
  waiting: Exchange[];
  isHeld: boolean;
  /** True if Node will send no further answer on it. */
  isOver: boolean;
  close?: () => void;
}

/**
 * Handles the requests of a connection one at a time, each once the one before is answered (RFC 9112, 9.3.2). Node
 * hands over all pipelined requests at once, and would hold all their answers. Here, a connection with too many waiting
 * requests is not read.
 */
export class ConnectionTurns {
  readonly #handle: RequestListener;
  readonly #lines = new WeakMap<Duplex, Line>();
  #waiting = 0;

  constructor(handle: RequestListener) {
    this.#handle = handle;
  }

  /** Handles a request once the requests before it are answered. */
  readonly handle: RequestListener = (request, response) => {
    const line = this.#lineOf(request.socket);
    if (line.isOver) return;
    if (line.running === undefined) this.#start(line, { request, response });
    else this.#wait(line, { request, response });
  };

  /**
   * Calls `close` on a connection with a protocol fault once the requests before the fault are answered: at once if
   * there are none, or if the fault is in the body of the request being answered.
   */
  close(socket: Duplex, close: () => void): void {
    const line = this.#lineOf(socket);
    if (!line.running?.complete) {
      close();
      return;
    }
    if (line.waiting.at(-1)?.request.complete === false) this.#forget(line.waiting.splice(-1));
    line.close = close;
    // The parser would fail again on everything that follows.
    hold(line);
  }

  #lineOf(socket: Duplex): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line = { socket, running: undefined, waiting: [], isHeld: false, isOver: false };
    this.#lines.set(socket, line);
    return line;
  }

  #start(line: Line, { request, response }: Exchange): void {
    line.running = request;
    response.once('close', () => this.#next(line));
    this.#handle(request, response);
  }

  #wait(line: Line, exchange: Exchange): void {
    if (line.waiting.length >= WAITING_MAX) {
      if (this.#waiting >= ALL_WAITING_MAX) line.socket.destroy();
      hold(line);
    }
    line.waiting.push(exchange);
    this.#waiting += 1;
  }

  #next(line: Line): void {
    const [next] = this.#forget(line.waiting.splice(0, 1));
    if (next?.response.socket === null) {
      line.isOver = true;
      this.#forget(line.waiting.splice(0));
      return;
    }
    if (next === undefined) {
      line.running = undefined;
      release(line);
      line.close?.();
      return;
    }
    if (line.close === undefined && line.waiting.length < WAITING_MAX) release(line);
    // Clears the time-out within which the answer before had to be read.
    next.request.socket.setTimeout(0);
    this.#start(line, next);
  }

  #forget(exchanges: Exchange[]): Exchange[] {
    this.#waiting -= exchanges.length;
    return exchanges;
  }
}

/** Pauses reading until `release`, although Node resumes it with every body that is read and every answer that ends. */
function hold(line: Line): void {
  if (line.isHeld) return;
  line.isHeld = true;
  line.socket.pause().on('resume', pauseAgain);
}

function release(line: Line): void {
  if (!line.isHeld) return;
  line.isHeld = false;
  line.socket.off('resume', pauseAgain).resume();
}

function pauseAgain(this: Duplex): void {
  this.pause();
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests of a connection that wait behind the one that is being answered, before no more of them are read. */
const WAITING_MAX = 16;
/** Counts all connections: one read brings thousands of the smallest ones. */
const ALL_WAITING_MAX = 10_000;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A connection: the request that is being answered, those that wait, and what closes it after them. */
interface Line {
  socket: Duplex;
  running: IncomingMessage | undefined;
  waiting: Exchange[];
  isHeld: boolean;
  /** Node gives it no further answer. */
  isOver: boolean;
  close?: () => void;
}

/**
 * Handles the requests of a connection one after the other, as they are answered (RFC 9112, 9.3.2). Node hands over all
 * that a client pipelines at once, and would hold all their answers; here the client waits when too many of them do.
 */
export class Turns {
  readonly #handle: RequestListener;
  readonly #lines = new WeakMap<Duplex, Line>();
  #waiting = 0;

  constructor(handle: RequestListener) {
    this.#handle = handle;
  }

  /** Handles a request when those before it are answered. */
  readonly handle: RequestListener = (request, response) => {
    const line = this.#lineOf(request.socket);
    if (line.isOver) return;
    if (line.running === undefined) this.#start(line, { request, response });
    else this.#wait(line, { request, response });
  };

  /**
   * Closes the connection when what came before its fault is answered: at once if the fault is in the body of the request
   * that is being answered.
   */
  close(socket: Duplex, close: () => void): void {
    const line = this.#lineOf(socket);
    if (!line.running?.complete) {
      close();
      return;
    }
    if (line.waiting.at(-1)?.request.complete === false) this.#forget(line.waiting.splice(-1));
    line.close = close;
    // The parser would fail again on whatever follows.
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
    // Left over from the answer before, which had to be read in that time.
    next.request.socket.setTimeout(0);
    this.#start(line, next);
  }

  #forget(exchanges: Exchange[]): Exchange[] {
    this.#waiting -= exchanges.length;
    return exchanges;
  }
}

/** Stops reading, whatever resumes it meanwhile: Node does so with every body that is read and every answer that ends. */
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

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait behind the one that is being answered. */
const WAITING_MAX = 16;

type Exchange = [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of a connection one after the other, as they are answered (RFC 9112, 9.3.2). Node hands over all
 * that a client pipelines at once, and would hold all their answers. Closes a connection on which too many wait.
 */
export function inTurn(handle: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Exchange[]>();

  const start = (socket: Socket, line: Exchange[], [request, response]: Exchange) => {
    response.once('close', () => {
      const next = line.shift();
      if (next === undefined) return void lines.delete(socket);
      // After the last answer of a connection Node hands it to no further one.
      if (next[1].socket === null) return;
      // Left over from the answer before, which had to be read in that time.
      socket.setTimeout(0);
      start(socket, line, next);
    });
    handle(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket);
    if (line === undefined) {
      const first: Exchange[] = [];
      lines.set(socket, first);
      start(socket, first, [request, response]);
    } else if (line.length < WAITING_MAX) line.push([request, response]);
    else socket.destroy();
  };
}

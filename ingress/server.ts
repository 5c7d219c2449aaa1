import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { newId } from '../shared/ids.ts';

export interface Listening {
  url: string;
  port: number;
  /** From now on requests are handled; those that came before have waited for it. */
  serve(handle: RequestListener): void;
  /** Takes no more connections, lets what runs finish within `graceMs`, then cuts the rest off. */
  close(graceMs: number): Promise<void>;
}

const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // The two above are enforced only as often as this.
  connectionsCheckingInterval: 1000,
};

/** Opens the port. Rejects when the address cannot be had. */
export async function listen(address: { host: string; port: number }): Promise<Listening> {
  const { promise: served, resolve: serve } = Promise.withResolvers<RequestListener>();
  const handle: RequestListener = async (request, response) => (await served)(request, response);
  const server = createServer(TIMEOUTS, handle);
  server.on('checkExpectation', handle);
  server.on('clientError', (_error, socket) => refuse(socket, '400 Bad Request'));
  // CONNECT names no path, so no route either; Node would hang up without a word.
  server.on('connect', (_request, socket) => refuse(socket, '405 Method Not Allowed'));
  server.listen(address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return { url: `http://${host}:${port}`, port, serve, close: (graceMs) => drain(server, graceMs) };
}

/** Answers what never becomes a request of the application, and closes. */
function refuse(socket: Duplex, status: string): void {
  if (!socket.writable) return void socket.destroy();
  const headers = ['Connection: close', 'Content-Length: 0', 'X-Content-Type-Options: nosniff'];
  socket.end([`HTTP/1.1 ${status}`, ...headers, `X-Request-Id: ${newId()}`, '', ''].join('\r\n'));
}

/** How long a kept-alive connection may bring one more request, the answer to which then says `Connection: close`. */
const LAST_REQUEST_MS = 500;

async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  // HTTP's own close would cut idle connections off at once: under requests that are on their way, too.
  NetServer.prototype.close.call(server);
  const idleUntil = performance.now() + LAST_REQUEST_MS;
  const sweep = setInterval(() => {
    if (performance.now() > idleUntil) server.closeIdleConnections();
  }, 100);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

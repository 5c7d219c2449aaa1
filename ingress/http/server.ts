import { once } from 'node:events';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ErrorCode, statusOf } from '../../shared/errors/catalogue.ts';
import { newId } from '../../shared/ids.ts';
import { hasRequestPending } from '../../shared/process/pending-request.ts';
import { urlOf } from '../../shared/process/url.ts';
import { every } from '../../shared/timing/every.ts';
import { PARSED_HEAD_BYTES_MAX } from '../guards/head.ts';
import { SocketTurns } from '../guards/socket-turns.ts';
import { pathIn, type Surface, surfaceOf } from '../request/context.ts';
import { errorBodyOf } from '../request/errors.ts';

export interface ListeningServer {
  url: string;
  port: number;
  /** Starts to handle requests, including those that arrived earlier. */
  serve(handle: RequestListener): void;
  /** Stops accepting connections, gives running requests `graceMs` to finish, then cuts off the rest. */
  close(graceMs: number): Promise<void>;
}

const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // How often Node checks `headersTimeout` and `requestTimeout`.
  connectionsCheckingInterval: 1000,
};

/**
 * Maximum connections that the kernel queues until they are accepted; the kernel may have a lower limit. Node's default
 * of 511 overflows in a burst.
 */
const BACKLOG = 4096;

/** Opens the port. Passes the server to `limit` first. Rejects when the address is in use or not local. */
export async function listen(
  address: { host: string; port: number },
  limit?: (server: NetServer) => void,
): Promise<ListeningServer> {
  const { promise: served, resolve: serve } = Promise.withResolvers<RequestListener>();
  const turns = new SocketTurns(async (request, response) => (await served)(request, response));
  // Leaves the check of the `Host` header to `checkHead`, because Node's answer would have no body.
  const options = { ...TIMEOUTS, maxHeaderSize: PARSED_HEAD_BYTES_MAX, requireHostHeader: false };
  const server = createServer(options, turns.handle);
  server.on('checkExpectation', turns.handle);
  server.on('clientError', async (error: ParserError, socket) => {
    const code = codeOf(error);
    if (code === 'request_timeout' && (await hasRequestPending(socket))) return;
    const surface = surfaceIn(error);
    turns.close(socket, () => {
      if (code === undefined) refuse(socket, 400);
      else refuse(socket, statusOf(code, surface), errorBodyOf(code, surface));
    });
  });
  // Node would close a CONNECT request without an answer.
  server.on('connect', (_request, socket) => {
    // Node has removed its own error listener, so a connection reset would be an uncaught error.
    socket.on('error', () => socket.destroy());
    turns.close(socket, () => refuse(socket, 405));
  });
  limit?.(server);
  server.listen({ ...address, backlog: BACKLOG });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: urlOf(address.host, port), port, serve, close: (graceMs) => drain(server, graceMs) };
}

/** Error that ends a connection before its request is complete. `rawPacket` is the data read last. */
interface ParserError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** Returns the code for a request that is too slow or whose head is too long; undefined for invalid HTTP. */
function codeOf(error: ParserError): ErrorCode | undefined {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (error.code !== 'HPE_HEADER_OVERFLOW') return undefined;
  return isInUrl(error) ? 'uri_too_long' : 'headers_too_large';
}

/** Checks whether the parser gave up inside the URL: the last packet then begins inside the URL, without a method. */
function isInUrl(error: ParserError): boolean {
  return /^\S*( HTTP\/1\.[01]\r?)?$/.test(firstLine(error));
}

function surfaceIn(error: ParserError): Surface {
  const [, path = ''] = firstLine(error).split(' ');
  return surfaceOf(pathIn(path));
}

function firstLine({ rawPacket }: ParserError): string {
  const [line = ''] = (rawPacket?.toString('latin1') ?? '').split('\n', 1);
  return line;
}

/** How long a refused connection stays open, so that a client that is still writing can read the answer. */
const LINGER_MS = 1000;

/** Answers input that Node does not pass on as a request, and closes the connection. */
function refuse(socket: Duplex, status: number, body?: object): void {
  // Already answered: the parser reports an error again for every further packet.
  if (socket.writableEnded) return;
  if (!socket.writable) return void socket.destroy();
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    Connection: 'close',
    'Content-Length': Buffer.byteLength(text),
    ...(body && {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Error-Source': 'ingress',
    }),
    // Only CONNECT gets 405 here; its target has no methods (RFC 9110, 10.2.1).
    ...(status === 405 && { Allow: '' }),
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': newId(),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n'));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Idle connections are closed once no request has arrived on any connection for this long. So a busy client sends one
 * more request on each connection, and learns from `Connection: close` that the connection ends; sending on one that is
 * being closed would fail.
 */
const QUIET_MS = 500;
const SWEEP_EVERY_MS = 100;

async function drain(server: Server, graceMs: number): Promise<void> {
  await acceptPending(server);
  const closed = once(server, 'close');
  // `http.Server.close` would also close idle connections whose next request is on its way.
  NetServer.prototype.close.call(server);
  let quietSince = performance.now();
  server.on('request', () => {
    quietSince = performance.now();
  });
  const sweep = every(SWEEP_EVERY_MS, async () => {
    // Waits until data that has arrived is read, so that its connection is not taken for idle.
    await nextTurn();
    if (performance.now() - quietSince > QUIET_MS) server.closeIdleConnections();
  });
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  await sweep.stop();
  clearTimeout(cut);
}

/** Maximum turns of the event loop for `acceptPending`, because new connections may never stop arriving. */
const ACCEPT_TURNS_MAX = 100;

/** Accepts connections that are established already: the kernel resets them when the port closes. */
async function acceptPending(server: Server): Promise<void> {
  let hasAccepted = true;
  const noteAccepted = () => {
    hasAccepted = true;
  };
  server.on('connection', noteAccepted);
  for (let turns = 0; hasAccepted && turns < ACCEPT_TURNS_MAX; turns += 1) {
    hasAccepted = false;
    // The first call only ends the current turn.
    await nextTurn();
    await nextTurn();
  }
  server.off('connection', noteAccepted);
}

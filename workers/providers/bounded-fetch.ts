import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import https from 'node:https';
import { promisify } from 'node:util';
import { brotliDecompress, inflateRaw, unzip } from 'node:zlib';
import { MIB } from '../../shared/schemas/limits.ts';

/** Maximum number of bytes of a body. The longest answers have only some kilobytes. */
const BODY_BYTES_MAX = MIB;
export const BODY_TOO_LARGE = 'ERR_BODY_TOO_LARGE';

/** Statuses for which `Response` refuses any body, even an empty one. */
const BODILESS_STATUSES = [204, 205, 304];

/** A successful answer that had begun, but cannot be read to its end. The provider may charge for such an answer. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer';
}

/**
 * A reset within this time after the request is sent means that the provider had closed an idle connection. After a
 * later reset, the provider may have worked on the request, and may charge for it.
 */
const STALE_WITHIN_MS = 1000;

/** A kept connection that the provider closed, most likely before the request arrived. */
class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

/**
 * Replaces the SDK's `fetch` by Node's HTTP client, which takes half the CPU time. Follows no redirect, because the
 * request contains the key and a person's text. If the provider closes a kept connection at once, sends the request
 * once more, on a new connection.
 */
export async function boundedFetch(
  target: string | URL | Request,
  { method, body, signal, headers: given }: RequestInit = {},
): Promise<Response> {
  if (typeof body !== 'string') throw new TypeError('only a text can be sent');
  const url = String(target);
  const headers = Object.fromEntries(new Headers(given));
  const options = {
    method,
    headers: { ...headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) },
    signal: signal ?? undefined,
  };
  let status = 0;
  try {
    const message = await answerTo(openRequest(url, options).end(body)).catch((error: unknown) => {
      if (!(error instanceof StaleConnection)) throw error;
      return answerTo(openRequest(url, { ...options, agent: agentForNewConnection(url) }).end(body));
    });
    status = statusOf(message);
    const bytes = await unpack(await bodyOf(message), message.headers['content-encoding']);
    return new Response(BODILESS_STATUSES.includes(status) ? null : bytes, {
      status,
      headers: headerPairsOf(message),
    });
  } catch (error) {
    // While a body is read, an abort arrives as a broken connection.
    signal?.throwIfAborted();
    if (status < 200 || status > 299) throw error;
    throw new BrokenAnswer('the answer broke off', { cause: error });
  }
}

function openRequest(url: string, options: RequestOptions): ClientRequest {
  return url.startsWith('https:') ? https.request(url, options) : httpRequest(url, options);
}

/** Returns an agent that keeps no connection. For HTTPS it uses the same proxy as the global agent. */
function agentForNewConnection(url: string): https.Agent | false {
  return url.startsWith('https:') && new https.Agent({ ...https.globalAgent.options, keepAlive: false });
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sentAt = performance.now();
  let bytesBefore: number | undefined;
  request.on('socket', ({ bytesRead }) => {
    bytesBefore = bytesRead;
  });
  // An abort while the body is read also causes this error event.
  request.on('response', resolve).on('error', (error: NodeJS.ErrnoException) => {
    const isUnanswered = error.code === 'ECONNRESET' && request.socket?.bytesRead === bytesBefore;
    const isStale = request.reusedSocket && isUnanswered && performance.now() - sentAt < STALE_WITHIN_MS;
    reject(isStale ? new StaleConnection() : error);
  });
  // After a server has switched protocols there is no other event, not even for an abort.
  request.on('close', () => reject(new Error('closed without an answer')));
  return promise;
}

/** Counts an invalid status as a 5xx (RFC 9110, 15), since a `Response` cannot have such a status. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode >= 200 && statusCode <= 599 ? statusCode : 500;
}

/** Reads a body by events, which takes less CPU time than an iteration over its chunks. */
function bodyOf(message: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
  const chunks: Buffer[] = [];
  let size = 0;
  message.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
    else message.destroy(Object.assign(new Error('answer too large'), { code: BODY_TOO_LARGE }));
  });
  message.on('end', () => resolve(Buffer.concat(chunks)));
  message.on('error', reject);
  return promise;
}

const INFLATE = { gzip: promisify(unzip), brotli: promisify(brotliDecompress), raw: promisify(inflateRaw) };
/** The compression method of zlib's format, in the low bits of its first byte (RFC 1950, 2.2). */
const DEFLATE_METHOD = 8;

/** Unpacks a body that was compressed although nobody asked for it, within the same limit. */
async function unpack(bytes: Buffer<ArrayBuffer>, encoding = ''): Promise<Buffer<ArrayBuffer>> {
  const name = encoding.trim().toLowerCase();
  if (bytes.length === 0 || !/^(?:(?:x-)?gzip|deflate|br)$/.test(name)) return bytes;
  const isRaw = name === 'deflate' && ((bytes[0] ?? 0) & 0x0f) !== DEFLATE_METHOD;
  const inflate = isRaw ? INFLATE.raw : name === 'br' ? INFLATE.brotli : INFLATE.gzip;
  const unpacked = await inflate(bytes, { maxOutputLength: BODY_BYTES_MAX }).catch((error: unknown) => {
    const isTooLarge = error instanceof RangeError;
    throw isTooLarge ? Object.assign(new Error('answer too large'), { code: BODY_TOO_LARGE }) : error;
  });
  return Buffer.from(unpacked);
}

function headerPairsOf({ headersDistinct }: IncomingMessage): [string, string][] {
  return Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]);
}

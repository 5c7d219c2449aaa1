import { finished, type Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../shared/errors/app-error.ts';
import { BODY_BYTES_MAX, KIB } from '../../shared/schemas/limits.ts';
import { rejectOnAbort } from '../../shared/timing/within.ts';
import type { RequestContext } from '../request/context.ts';
import type { BodyShare } from './budgets.ts';

/** Minimum pace: a body may take `graceMs`, and a second more for every `bytesPerS` bytes sent. */
const MIN_PACE = { graceMs: 5000, bytesPerS: 32 * KIB };
/** Maximum ratio of unpacked to packed size of bodies over `BODY_BYTES_MAX`. Text rarely reaches a ratio of 20. */
const UNPACKED_RATIO_MAX = 100;
/** Maximum packed size of a body of `limit` bytes. Gzip adds headers, and 5 bytes to each incompressible block. */
const packedBytesMax = (limit: number) => KIB + limit + limit / 64;

export interface BodyLimits {
  /** Maximum unpacked size in bytes. */
  limit: number;
  share: BodyShare;
  /** Accepts a request without a body, whatever its type. */
  mayBeEmpty?: boolean | undefined;
  countBytes(bytes: number): Promise<void>;
}

/**
 * Reads and unpacks a body. Throws `body_too_large`, `rate_limited`, `overloaded`, `request_timeout`,
 * `invalid_content_type`, and `invalid_json` when the body is cut off or cannot be unpacked. Reads a body of the
 * wrong type too, because "too large" takes precedence over "wrong type".
 */
export async function receive(ctx: RequestContext, limits: BodyLimits): Promise<Buffer> {
  const { req } = ctx;
  const isAcceptable = isJsonType(ctx.get('Content-Type')) && isKnownEncoding(ctx.get('Content-Encoding'));
  const isPacked = isAcceptable && ctx.get('Content-Encoding').toLowerCase() === 'gzip';
  const unpacking = isPacked ? unpack(req, packedBytesMax(limits.limit)) : undefined;
  try {
    const length = isPacked ? 0 : Number(ctx.get('Content-Length'));
    // Counts the size before reading if it is known, otherwise after reading.
    if (length > 0) await limits.countBytes(length);
    await limits.share.reserve(length);
    const bytesSent = (received: number) => unpacking?.bytesWritten ?? received;
    const bytes = await collect(unpacking ?? req, { ...limits, length, bytesSent });
    if (!length) await limits.countBytes(bytes.length);
    if (isAcceptable || (limits.mayBeEmpty && bytes.length === 0)) return bytes;
  } catch (error) {
    // Any other error is the client's fault: invalid gzip, or a closed connection.
    throw error instanceof AppError ? error : new AppError('invalid_json');
  } finally {
    unpacking?.destroy();
  }
  throw new AppError('invalid_content_type');
}

const JSON_TYPE = 'application/json';

function isJsonType(header: string): boolean {
  try {
    const { essence, params } = new MIMEType(header);
    return essence === JSON_TYPE && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

function isKnownEncoding(header: string): boolean {
  return ['', 'identity', 'gzip'].includes(header.toLowerCase());
}

/** Unpacks at most `max` packed bytes: blocks that unpack to nothing could otherwise keep a core busy. */
function unpack(source: Readable, max: number) {
  const unpackedStream = source.pipe(createGunzip());
  let received = 0;
  const count = (chunk: Buffer) => {
    received += chunk.length;
    if (received > max) unpackedStream.destroy(new AppError('body_too_large'));
  };
  source.on('data', count);
  unpackedStream.once('close', () => {
    source.off('data', count);
    source.unpipe(unpackedStream);
  });
  finished(source, { writable: false }, (error) => {
    if (error) unpackedStream.destroy(error);
  });
  return unpackedStream;
}

interface CollectOptions extends BodyLimits {
  /** Unpacked size as announced; 0 if unknown. */
  length: number;
  /** Estimates how many bytes the client sent for this many unpacked bytes. */
  bytesSent(received: number): number;
}

/** Collects the stream's bytes, and never destroys it. Throws `request_timeout` if they are slower than `MIN_PACE`. */
async function collect(source: Readable, options: CollectOptions): Promise<Buffer> {
  const since = performance.now();
  const chunks: AsyncIterableIterator<Buffer> = source.iterator({ destroyOnReturn: false });
  const body = new Body(options);
  const tooSlow = new AbortController();
  const check = () => {
    const leftMs =
      since + MIN_PACE.graceMs + (1000 * body.bytesSent) / MIN_PACE.bytesPerS - performance.now();
    if (leftMs <= 0) tooSlow.abort(new AppError('request_timeout'));
    else timer = setTimeout(check, leftMs);
  };
  let timer = setTimeout(check, MIN_PACE.graceMs);
  try {
    await rejectOnAbort(tooSlow.signal, addAll(chunks, body));
  } finally {
    clearTimeout(timer);
    // Does not await `return`, which waits for the next chunk.
    void chunks.return?.();
  }
  return body.bytes;
}

async function addAll(chunks: AsyncIterable<Buffer>, body: Body): Promise<void> {
  for await (const chunk of chunks) await body.add(chunk);
}

/** Copies the received chunks into one buffer: a client may send a million chunks of one byte, at 100 bytes each. */
class Body {
  readonly #options: CollectOptions;
  #buffer: Buffer = Buffer.alloc(0);
  #usedBytes = 0;

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#usedBytes);
  }

  get bytesSent(): number {
    return this.#options.bytesSent(this.#usedBytes);
  }

  async add(chunk: Buffer): Promise<void> {
    const { length, limit, share, bytesSent } = this.#options;
    const neededBytes = this.#usedBytes + chunk.length;
    if (
      neededBytes > limit ||
      neededBytes > Math.max(BODY_BYTES_MAX, UNPACKED_RATIO_MAX * bytesSent(neededBytes))
    )
      throw new AppError('body_too_large');
    if (neededBytes > this.#buffer.length) {
      // Most bodies arrive in one chunk, which is not copied.
      const size = this.#usedBytes === 0 ? neededBytes : Math.min(limit, Math.max(length, 2 * neededBytes));
      await share.reserve(size);
      this.#buffer = this.#usedBytes === 0 ? chunk : copyOf(this.bytes, size);
    }
    if (this.#buffer !== chunk) chunk.copy(this.#buffer, this.#usedBytes);
    this.#usedBytes = neededBytes;
  }
}

function copyOf(bytes: Buffer, size: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(size);
  bytes.copy(copy);
  return copy;
}

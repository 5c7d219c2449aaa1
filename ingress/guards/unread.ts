import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import type { RequestContext, RequestState } from '../request/context.ts';

/** Maximum bytes of a large answer that are passed to the connection at a time. */
const PIECE_BYTES = 128 * KIB;

/**
 * Cuts off a client that takes longer than `timeoutMs` for one piece of a large or streamed answer, or that reads nothing
 * of what is left for as long. Node's own time-out alone would let a client that reads a few bytes now and then keep the
 * answer in memory for hours.
 */
export function cutUnreadAnswers(timeoutMs: number): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const { body, length, res } = ctx;
    if (!isLarge(body)) {
      res.setTimeout(timeoutMs);
      return;
    }
    ctx.body = Readable.from(inPieces(body, res, timeoutMs));
    // Koa forgets the length when the body is replaced.
    if (length !== undefined) ctx.length = length;
  };
}

type LargeBody = string | Buffer | Readable;

function isLarge(body: RequestContext['body']): body is LargeBody {
  if (body instanceof Readable) return true;
  return (typeof body === 'string' || Buffer.isBuffer(body)) && body.length > PIECE_BYTES;
}

async function* inPieces(body: LargeBody, res: ServerResponse, timeoutMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<string | Buffer> | (string | Buffer)[] =
    body instanceof Readable ? body : [body];
  for await (const chunk of chunks) {
    for (const piece of typeof chunk === 'string' ? encodedPieces(chunk) : copiedPieces(chunk)) {
      const tooSlow = setTimeout(() => res.destroy(), timeoutMs);
      try {
        yield piece;
      } finally {
        clearTimeout(tooSlow);
      }
    }
  }
  // The last pieces wait in the connection's buffers.
  res.setTimeout(timeoutMs);
}

const UTF_8 = new TextEncoder();

/** Encodes a text in UTF-8, one piece at a time, so that a waiting answer is not in memory twice. */
function* encodedPieces(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length; ) {
    // No code unit takes more than three bytes.
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, 3 * (text.length - at)));
    const { read, written } = UTF_8.encodeInto(text.slice(at), piece);
    yield piece.subarray(0, written);
    at += read;
  }
}

/** Copies each piece: a slice that waits in a buffer would keep the whole answer in memory. */
function* copiedPieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield Buffer.copyBytesFrom(bytes, at, PIECE_BYTES);
}

/**
 * Maximum rate at which the unread rest of bodies is dropped, over all connections. It takes a few percent of a core.
 */
const DROPPED_BYTES_PER_MS = (64 * MIB) / 1000;
/** Maximum time that a closing connection stays open while the request's body is dropped. */
const LINGER_MS = 1000;

/**
 * Reads and drops the rest of a request's body once the answer is ready, so that a client that writes the whole body
 * first can read the answer and reuse the connection. The bounded pace protects the event loop.
 */
export function dropUnreadBodies(): Middleware<RequestState> {
  let freeAt = 0;
  const waitForTurn = async (bytes: number) => {
    const now = performance.now();
    freeAt = Math.max(now, freeAt) + bytes / DROPPED_BYTES_PER_MS;
    await sleep(freeAt - now, undefined, { ref: false });
  };
  return async (ctx, next) => {
    await next();
    const { req, res, response, body } = ctx;
    if (req.complete && req.readableLength === 0) return;
    // An error means that the client has disconnected.
    const dropping = drop(req, waitForTurn).catch(() => {});
    const closes = !res.shouldKeepAlive || response.get('Connection') === 'close';
    if (closes && typeof body === 'string') linger(ctx, body, dropping);
  };
}

async function drop(req: IncomingMessage, waitForTurn: (bytes: number) => Promise<void>): Promise<void> {
  req.unpipe();
  for await (const chunk of req.iterator({ destroyOnReturn: false })) await waitForTurn(chunk.length);
}

/**
 * Sends the answer, but ends it only when the body has been dropped or `LINGER_MS` is over: closing on a client that
 * is still writing makes TCP reset the connection, and the client might never see the answer.
 */
function linger(ctx: RequestContext, text: string, dropping: Promise<void>): void {
  ctx.body = Readable.from(
    (async function* () {
      yield text;
      await withTimeout(LINGER_MS, () => dropping).catch(() => {});
    })(),
  );
  ctx.length = Buffer.byteLength(text);
}

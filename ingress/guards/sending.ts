import { Readable } from 'node:stream';
import type { Middleware } from 'koa';
import { KIB } from '../../shared/schemas/limits.ts';
import type { RequestContext, RequestState } from '../http/request-context.ts';

/** Bytes of a large answer that are passed on at a time. */
const PIECE = 128 * KIB;

/**
 * Cuts off a client that takes nothing of its answer for `timeoutMs`, and one that takes less than 128 KiB of a large one in
 * that time: whoever reads a few bytes now and then would hold its memory for hours.
 */
export function cutUnread(timeoutMs: number): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    // A time-out of the socket: counts from the last byte that the kernel took. Node replaces it for the next request.
    ctx.res.setTimeout(timeoutMs);
    const { body, length } = ctx;
    if (!isLarge(body)) return;
    ctx.body = Readable.from(inPieces(body, () => ctx.res.destroy(), timeoutMs));
    // Koa forgets it with the body that it was for.
    if (length !== undefined) ctx.length = length;
  };
}

type Large = string | Buffer | Readable;

function isLarge(body: RequestContext['body']): body is Large {
  if (body instanceof Readable) return true;
  return (typeof body === 'string' || Buffer.isBuffer(body)) && body.length > PIECE;
}

async function* inPieces(body: Large, cut: () => void, timeoutMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<string | Buffer> | (string | Buffer)[] =
    body instanceof Readable ? body : [body];
  for await (const chunk of chunks) {
    for (const piece of typeof chunk === 'string' ? encoded(chunk) : copied(chunk)) {
      const tooSlow = setTimeout(cut, timeoutMs);
      try {
        yield piece;
      } finally {
        clearTimeout(tooSlow);
      }
    }
  }
}

const UTF_8 = new TextEncoder();

/** In UTF-8, a piece at a time, so that a text that waits is not held twice. */
function* encoded(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length; ) {
    // No code unit takes more than three bytes.
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE, 3 * (text.length - at)));
    const { read, written } = UTF_8.encodeInto(text.slice(at), piece);
    yield piece.subarray(0, written);
    at += read;
  }
}

/** Copies, so that a piece that waits in a buffer does not keep all of its answer. */
function* copied(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield Buffer.copyBytesFrom(bytes, at, PIECE);
}

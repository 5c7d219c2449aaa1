import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { MIB } from '../../shared/schemas/limits.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import type { RequestContext, RequestState } from '../http/request-context.ts';

/**
 * Maximum rate at which unread bodies are read and dropped, over all connections. This takes a few percent of a core.
 */
const DROPPED_BYTES_PER_MS = (64 * MIB) / 1000;
/** Maximum time that a closing connection stays open while its body is dropped. */
const LINGER_MS = 1000;

/**
 * Reads and drops the rest of a body once its answer is ready, so that a client that writes the whole body first can
 * read the answer and reuse the connection. The bounded pace protects the event loop.
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

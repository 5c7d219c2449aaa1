import type { Middleware, ParameterizedContext } from 'koa';
import { newId } from '../../shared/ids.ts';
import type { Log } from '../../shared/log.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN } from '../../shared/schemas/limits.ts';
import type { AddressOf } from './address.ts';
import { pathIn, type Surface, surfaceOf } from './surface.ts';

/** What the steps of a request share. */
export interface RequestState {
  requestId: string;
  log: Log;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  /** The client's, by `TRUST_PROXY`. */
  address: string;
  surface: Surface;
  /** The matched route's path pattern. Paths themselves contain ids of users, so they are never logged. */
  route?: string;
  appId?: string;
  accountId?: string;
  errorCode?: string;
}

export type RequestContext = ParameterizedContext<RequestState>;

/** Gives each request an id and a logger, sets the common headers of its answer, and writes one access line. */
export function requestContext(
  log: Log,
  addressOf: AddressOf,
  isShuttingDown: () => boolean,
): Middleware<RequestState> {
  return async (ctx, next) => {
    const start = performance.now();
    const requestId = saneId(ctx.get('X-Request-Id')) ?? newId();
    ctx.state = {
      requestId,
      log: log.child({ requestId }),
      signal: disconnection(ctx),
      address: addressOf(ctx.req),
      surface: surfaceOf(pathOf(ctx) ?? pathIn(ctx.req.url ?? '')),
    };
    ctx.set({
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    });
    await next();
    // Checked last: a shutdown may have begun while the caller waited.
    if (isShuttingDown()) ctx.set('Connection', 'close');
    logAccess(ctx, performance.now() - start);
  };
}

/** The path; undefined for a target like `http://[`. Koa parses lazily, and throws then. */
export function pathOf(ctx: Pick<RequestContext, 'path'>): string | undefined {
  try {
    return ctx.path;
  } catch {
    return undefined;
  }
}

const SANE_ID = new RegExp(IDENTIFIER_PATTERN);

function saneId(value: string): string | undefined {
  return SANE_ID.test(value) && value.length <= IDENTIFIER_MAX ? value : undefined;
}

/** Watches the response's `close`: the request's fires as soon as the body is read. */
function disconnection({ res }: RequestContext): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

function logAccess(ctx: RequestContext, durationMs: number): void {
  const { log, route, appId, accountId, errorCode } = ctx.state;
  log.info(
    {
      method: ctx.method,
      route,
      status: ctx.status,
      durationMs: Math.round(durationMs),
      appId,
      accountId,
      errorCode,
    },
    'request',
  );
}

import type { Middleware, ParameterizedContext } from 'koa';
import { newId } from '../../shared/ids.ts';
import type { Log } from '../../shared/log.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN } from '../../shared/schemas/limits.ts';
import type { AddressOf } from './address.ts';

/** What the steps of a request know about it. */
export interface RequestState {
  requestId: string;
  log: Log;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  /** The client's, by `TRUST_PROXY`. */
  address: string;
  /** The matched path's pattern: paths themselves name users and never reach the log. */
  route?: string;
  appId?: string;
  accountId?: string;
  errorCode?: string;
}

export type RequestContext = ParameterizedContext<RequestState>;

/** Gives the request an id and a logger, the answer its common headers, and the log one line. */
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
    };
    ctx.set({
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    });
    await next();
    // Asked last: a shutdown may have begun while the caller waited.
    if (isShuttingDown()) ctx.set('Connection', 'close');
    logAccess(ctx, performance.now() - start);
  };
}

const SANE_ID = new RegExp(IDENTIFIER_PATTERN);

function saneId(value: string): string | undefined {
  return SANE_ID.test(value) && value.length <= IDENTIFIER_MAX ? value : undefined;
}

/** The response's `close` tells it: the request's fires as soon as the body is read. */
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

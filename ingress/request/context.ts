import type { Middleware, ParameterizedContext } from 'koa';
import { newId } from '../../shared/ids.ts';
import type { Log } from '../../shared/log.ts';
import { observeRequest } from '../../shared/metrics/requests.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN } from '../../shared/schemas/limits.ts';
import { describeSpan, failSpan, inSpan, traceId } from '../../shared/tracing/span.ts';
import type { AddressOf } from './address.ts';
import { type RequestScope, withinRequest } from './scope.ts';

export interface RequestState extends RequestScope {
  log: Log;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  /** Address of the client, behind the proxies of `TRUST_PROXY`. */
  address: string;
  surface: Surface;
  /** The matched route's path pattern. Actual paths are never logged, because they contain ids that clients chose. */
  route?: string;
  appId?: string;
  accountId?: string;
  errorCode?: string;
}

/** Who may call an endpoint: an app with its key, an account, or anyone. */
export type Credential = 'app' | 'user' | 'none';

export type RequestContext = ParameterizedContext<RequestState>;

/**
 * Gives each request an id, a logger and the common headers of answers, and writes its line of the access log. Without
 * `publicUrl`, no answer asks for https.
 */
export function requestContext(
  log: Log,
  addressOf: AddressOf,
  isShuttingDown: () => boolean,
  publicUrl = '',
): Middleware<RequestState> {
  const isHttps = publicUrl.startsWith('https:');
  const serve: Middleware<RequestState> = async (ctx, next) => {
    const start = performance.now();
    const givenId = ctx.get('X-Request-Id');
    const requestId = isIdentifier(givenId) ? givenId : newId();
    ctx.state = {
      requestId,
      log: log.child({ requestId, traceId: traceId() }),
      signal: disconnectSignal(ctx),
      address: addressOf(ctx.req),
      surface: surfaceOf(pathOf(ctx) ?? pathIn(ctx.req.url ?? '')),
    };
    ctx.set({
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...(isHttps && HTTPS_HEADERS),
    });
    await withinRequest(ctx.state, next);
    if (ctx.response.is('html')) ctx.set(PAGE_HEADERS);
    // Checked after the handler: a shutdown may have begun meanwhile.
    if (isShuttingDown()) ctx.set('Connection', 'close');
    logAccess(ctx, performance.now() - start);
    describeRequest(ctx);
  };
  return (ctx, next) => {
    if (PROBES.has(ctx.req.url ?? '')) return serve(ctx, next);
    const parent = { traceparent: ctx.get('traceparent') };
    return inSpan(ctx.method, { kind: 'SERVER', parent }, () => serve(ctx, next));
  };
}

/** A year, without subdomains, which may be others'. */
const HTTPS_HEADERS = { 'Strict-Transport-Security': 'max-age=31536000' };

const PAGE_HEADERS = {
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** Health probes, which are too frequent to trace. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Returns the path; undefined for a target like `http://[`, on which Koa's lazy parser throws. */
export function pathOf(ctx: Pick<RequestContext, 'path'>): string | undefined {
  try {
    return ctx.path;
  } catch {
    return undefined;
  }
}

const IDENTIFIER = new RegExp(IDENTIFIER_PATTERN);

export function isIdentifier(value: string): boolean {
  return IDENTIFIER.test(value) && value.length <= IDENTIFIER_MAX;
}

/** Aborts when the caller disconnects. Watches the response, because a request closes once its body is read. */
function disconnectSignal({ res }: RequestContext): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

function logAccess(ctx: RequestContext, durationMs: number): void {
  const { log, route, appId, accountId, work, errorCode } = ctx.state;
  observeRequest({ method: ctx.method, route, status: ctx.status, code: errorCode, ms: durationMs });
  log.info(
    {
      method: ctx.method,
      route,
      status: ctx.status,
      durationMs: Math.round(durationMs),
      appId,
      accountId,
      work,
      errorCode,
    },
    'request',
  );
}

function describeRequest({ method, status, state }: RequestContext): void {
  const { requestId, route, work, errorCode } = state;
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'forecue.request.id': requestId,
    'forecue.work.id': work,
    'forecue.error.code': errorCode,
  };
  describeSpan(attributes, route && `${method} ${route}`);
  if (status >= 500) failSpan(errorCode ?? String(status));
}

/**
 * Group of paths. Under `api`, errors have an explanation, and the trailing slash is optional. Under `connect`, errors
 * are pages. Under `oauth`, they are as OAuth has them. Under `v1` and `site` (all other paths), they are bare codes.
 */
export type Surface = keyof Paths;

export interface Paths {
  v1: `/v1/${string}`;
  api: `/api/${string}/`;
  connect: `/connect/${string}`;
  oauth: `/oauth/${string}` | `/.well-known/oauth-${string}`;
  site: `/${string}`;
}

/** Returns the path of a request target, which may include the host (RFC 9112, 3.2.2). */
export function pathIn(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

export function surfaceOf(path: string): Surface {
  if (path.startsWith('/v1/')) return 'v1';
  if (path.startsWith('/api/')) return 'api';
  if (path.startsWith('/oauth/') || path.startsWith('/.well-known/oauth-')) return 'oauth';
  return /^\/connect(\/|$)/.test(path) ? 'connect' : 'site';
}

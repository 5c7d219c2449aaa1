import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import type { Log } from '../../shared/log.ts';
import { checkHead } from '../guards/head.ts';
import { cutUnreadAnswers, dropUnreadBodies } from '../guards/unread.ts';
import { countRefusals, type RefusalCounter } from '../limits/refusals.ts';
import { addressReader } from '../request/address.ts';
import { type RequestState, requestContext, type Surface } from '../request/context.ts';
import { handleErrors } from '../request/errors.ts';
import { REQUEST_HEADERS, RESPONSE_HEADERS } from './headers.ts';
import { createRouter, type RouterDependencies } from './router.ts';

export interface KoaDependencies<Parts> extends RouterDependencies<Parts> {
  /** Middleware around the routes of a surface. It also answers their errors. */
  surfaces?: Partial<Record<Surface, Middleware<RequestState>>>;
  refusals: Pick<RefusalCounter, 'add'>;
  trustProxy: readonly string[];
  publicUrl: string;
  corsOrigins: readonly string[];
  sendTimeoutMs: number;
  log: Log;
  isShuttingDown: () => boolean;
  /** Called for each request that may change something. */
  noteChange(): void;
}

/** Each middleware encloses those added after it. */
export function createKoa<Parts>(dependencies: KoaDependencies<Parts>): Koa<RequestState> {
  const {
    surfaces = {},
    refusals,
    trustProxy,
    publicUrl,
    corsOrigins,
    sendTimeoutMs,
    log,
    isShuttingDown,
    noteChange,
  } = dependencies;
  const app = new Koa<RequestState>();
  app.use(cutUnreadAnswers(sendTimeoutMs));
  app.use(dropUnreadBodies());
  app.use(requestContext(log, addressReader(trustProxy), isShuttingDown, publicUrl));
  app.use(countRefusals(refusals));
  app.use(handleErrors(publicUrl));
  app.use(checkHead);
  app.use((ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') noteChange();
    return next();
  });
  if (corsOrigins.length > 0) app.use(onSurface('api', apiCors(corsOrigins)));
  app.use((ctx, next) => surfaces[ctx.state.surface]?.(ctx, next) ?? next());
  app.use(createRouter(dependencies).routes());
  // Replaces Koa's printing of errors that occur after `handleErrors`, while an answer is sent.
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

function onSurface(surface: Surface, middleware: Middleware<RequestState>): Middleware<RequestState> {
  return (ctx, next) => (ctx.state.surface === surface ? middleware(ctx, next) : next());
}

/** How long a browser may cache a preflight's answer. */
const PREFLIGHT_MAX_AGE_S = 600;

/** Lets pages of these origins call `/api`, without cookies. A preflight from any other origin gets 405. */
function apiCors(origins: readonly string[]): Middleware<RequestState> {
  const allowed = new Set(origins);
  return cors({
    origin: (ctx) => (allowed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'X-Service-API-Key', ...Object.keys(REQUEST_HEADERS)],
    exposeHeaders: Object.keys(RESPONSE_HEADERS).filter((name) => name !== 'Set-Cookie'),
    maxAge: PREFLIGHT_MAX_AGE_S,
    // Not needed, because `handleErrors` keeps the headers that are already set.
    keepHeadersOnError: false,
  });
}

import Koa, { type Middleware } from 'koa';
import type { Log } from '../../shared/log.ts';
import { addressReader } from './address.ts';
import { apiCors } from './cors.ts';
import { errors } from './errors.ts';
import { checkHead } from './head.ts';
import { largeInTurn } from './large-in-turn.ts';
import { type RequestState, requestContext } from './request-context.ts';
import { dropRests } from './rests.ts';
import { createRouter, type Serving } from './router.ts';
import { cutUnread } from './sending.ts';
import type { Surface } from './surface.ts';

export interface AppDependencies<Parts> extends Serving<Parts> {
  /** Wraps every answer of the surface `connect`, its refusals included. */
  pages?: Middleware<RequestState>;
  /** As in the configuration. */
  trustProxy: readonly string[];
  corsOrigins: readonly string[];
  sendTimeoutMs: number;
  log: Log;
  isShuttingDown: () => boolean;
}

/** The Koa application: its middleware, outermost first. */
export function createApp<Parts>(dependencies: AppDependencies<Parts>): Koa<RequestState> {
  const { pages, trustProxy, corsOrigins, sendTimeoutMs, log, isShuttingDown } = dependencies;
  const app = new Koa<RequestState>();
  app.use(cutUnread(sendTimeoutMs));
  app.use(dropRests());
  app.use(requestContext(log, addressReader(trustProxy), isShuttingDown));
  app.use(errors);
  app.use(checkHead);
  if (corsOrigins.length > 0) app.use(onSurface('api', apiCors(corsOrigins)));
  if (pages !== undefined) app.use(onSurface('connect', pages));
  app.use(onSurface('api', largeInTurn()));
  app.use(createRouter(dependencies).routes());
  // Only a failing connection gets past `errors`; Koa would print it.
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

function onSurface(surface: Surface, middleware: Middleware<RequestState>): Middleware<RequestState> {
  return (ctx, next) => (ctx.state.surface === surface ? middleware(ctx, next) : next());
}

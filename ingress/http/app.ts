import Koa, { type Middleware } from 'koa';
import type { Log } from '../../shared/log.ts';
import { paceLargeBodies } from '../guards/bodies.ts';
import { apiCors } from '../guards/cors.ts';
import { checkHead } from '../guards/head.ts';
import { cutUnread } from '../guards/sending.ts';
import { dropUnreadBodies } from '../guards/unread-bodies.ts';
import { countRefusals, type Refusals } from '../limits/refusals.ts';
import { addressReader } from './address.ts';
import { errors } from './errors.ts';
import { type RequestState, requestContext, type Surface } from './request-context.ts';
import { createRouter, type Serving } from './router.ts';

export interface AppDependencies<Parts> extends Serving<Parts> {
  /** Wraps every answer of the surface `connect`, its refusals included. */
  pages?: Middleware<RequestState>;
  refusals: Pick<Refusals, 'add'>;
  /** As in the configuration. */
  trustProxy: readonly string[];
  corsOrigins: readonly string[];
  sendTimeoutMs: number;
  log: Log;
  isShuttingDown: () => boolean;
}

/** The Koa application: its middleware, outermost first. */
export function createApp<Parts>(dependencies: AppDependencies<Parts>): Koa<RequestState> {
  const { pages, refusals, trustProxy, corsOrigins, sendTimeoutMs, log, isShuttingDown } = dependencies;
  const app = new Koa<RequestState>();
  app.use(cutUnread(sendTimeoutMs));
  app.use(dropUnreadBodies());
  app.use(requestContext(log, addressReader(trustProxy), isShuttingDown));
  app.use(countRefusals(refusals));
  app.use(errors);
  app.use(checkHead);
  if (corsOrigins.length > 0) app.use(onSurface('api', apiCors(corsOrigins)));
  if (pages !== undefined) app.use(onSurface('connect', pages));
  app.use(onSurface('api', paceLargeBodies()));
  app.use(createRouter(dependencies).routes());
  // Only a failing connection gets past `errors`; Koa would print it.
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

function onSurface(surface: Surface, middleware: Middleware<RequestState>): Middleware<RequestState> {
  return (ctx, next) => (ctx.state.surface === surface ? middleware(ctx, next) : next());
}

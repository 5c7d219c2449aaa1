import Koa from 'koa';
import type { Log } from '../shared/log.ts';
import type { Credentials } from './auth/credentials.ts';
import type { Endpoint } from './endpoint.ts';
import { errors } from './middleware/errors.ts';
import { type RequestState, requestContext } from './middleware/request-context.ts';
import { checkTarget, createRouter } from './router.ts';

export interface AppDependencies {
  endpoints: readonly Endpoint[];
  credentials: Credentials;
  log: Log;
  isShuttingDown: () => boolean;
}

/** The Koa application: its middleware, outermost first. */
export function createApp({
  endpoints,
  credentials,
  log,
  isShuttingDown,
}: AppDependencies): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.use(requestContext(log, isShuttingDown));
  app.use(errors);
  app.use(checkTarget);
  app.use(createRouter(endpoints, credentials).routes());
  // Only a failing connection gets past `errors`; Koa would print it.
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

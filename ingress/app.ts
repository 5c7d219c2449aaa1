import Koa, { type Middleware } from 'koa';
import type { Log } from '../shared/log.ts';
import type { Credentials } from './auth/credentials.ts';
import type { Endpoint } from './endpoint.ts';
import type { CountRequest } from './limits/request-limits.ts';
import { addressReader } from './middleware/address.ts';
import { apiCors } from './middleware/cors.ts';
import { errors } from './middleware/errors.ts';
import { type RequestState, requestContext } from './middleware/request-context.ts';
import { checkTarget, createRouter } from './router.ts';

export interface AppDependencies {
  endpoints: readonly Endpoint[];
  /** What serves people rather than programs: each hands on what is not below its own paths. */
  pages?: readonly Middleware<RequestState>[];
  credentials: Credentials;
  countRequest: CountRequest;
  /** As in the configuration. */
  trustProxy: readonly string[];
  corsOrigins: readonly string[];
  log: Log;
  isShuttingDown: () => boolean;
}

/** The Koa application: its middleware, outermost first. */
export function createApp({
  endpoints,
  pages = [],
  credentials,
  countRequest,
  trustProxy,
  corsOrigins,
  log,
  isShuttingDown,
}: AppDependencies): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.use(requestContext(log, addressReader(trustProxy), isShuttingDown));
  app.use(errors);
  app.use(checkTarget);
  if (corsOrigins.length > 0) app.use(apiCors(corsOrigins));
  for (const page of pages) app.use(page);
  app.use(createRouter(endpoints, credentials, countRequest).routes());
  // Only a failing connection gets past `errors`; Koa would print it.
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

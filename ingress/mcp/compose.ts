import Koa from 'koa';
import type { McpConfig } from '../../shared/config/mcp.ts';
import type { Log } from '../../shared/log.ts';
import { ProcessHealth } from '../../shared/process/health.ts';
import { close, type Running } from '../../shared/process/lifecycle.ts';
import { openOperatorPort } from '../../shared/process/operator-port.ts';
import { STOP_LIMITS } from '../../shared/process/stop-limits.ts';
import { connectionLimits } from '../guards/connection-limits.ts';
import { checkHead } from '../guards/head.ts';
import { cutUnread } from '../guards/sending.ts';
import { dropUnreadBodies } from '../guards/unread-bodies.ts';
import { addressReader, trustOf } from '../http/address.ts';
import { type RequestState, requestContext } from '../http/request-context.ts';
import { type Listening, listen } from '../http/server.ts';
import { PATH, toolEndpoint } from './endpoint.ts';
import { protocolErrors } from './errors.ts';
import { checkOrigin } from './origin.ts';
import { Sessions } from './sessions.ts';

/** Builds a tool server from its configuration. What it opens is closed in reverse order. */
export async function startMcp(config: McpConfig, log: Log): Promise<Running> {
  await using opening = new AsyncDisposableStack();
  const health = new ProcessHealth();
  health.require(() => isReady(config.upstream));
  opening.adopt(await openOperatorPort(config.operator, health), close);
  const sessions = opening.adopt(new Sessions(config.sessions), close);
  const endpoint = opening.adopt(toolEndpoint({ ...config, sessions, log }), close);
  const limit = connectionLimits(config.connections, trustOf(config.trustProxy), log);
  const server = opening.adopt(await listen(config, limit), (one) => drain(one, health));
  server.serve(appOf(config, endpoint, health, log).callback());
  health.serving = true;
  const opened = opening.move();
  return { url: server.url + PATH, stop: () => opened.disposeAsync() };
}

/** The application: its middleware, outermost first. */
function appOf(
  { sendTimeoutMs, trustProxy, corsOrigins, publicUrl, production }: McpConfig,
  endpoint: ReturnType<typeof toolEndpoint>,
  health: ProcessHealth,
  log: Log,
): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.use(cutUnread(sendTimeoutMs));
  app.use(dropUnreadBodies());
  app.use(requestContext(log, addressReader(trustProxy), () => !health.serving));
  app.use(protocolErrors);
  app.use(checkHead);
  app.use(checkOrigin([new URL(publicUrl).origin, ...corsOrigins], { loopback: !production }));
  app.use(endpoint.serve);
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

async function isReady(upstream: string): Promise<void> {
  const answer = await fetch(`${upstream}/readyz`);
  await answer.body?.cancel();
  if (!answer.ok) throw new Error('the interface is not ready');
}

/** Calls that run are answered first; their clients then open new sessions elsewhere. */
async function drain(server: Listening, health: ProcessHealth): Promise<void> {
  health.serving = false;
  await server.close(STOP_LIMITS.ingressConnections);
}

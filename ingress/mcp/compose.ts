import Koa, { type Next } from 'koa';
import type { McpConfig } from '../../shared/config/mcp.ts';
import {
  DEFAULT_SCOPES,
  isToolServer,
  RESOURCE_METADATA_PATH,
  type ResourcePlaces,
  resourceMetadata,
} from '../../shared/domain/resource.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { ProcessHealth } from '../../shared/process/health.ts';
import { closePart, type RunningProcess } from '../../shared/process/lifecycle.ts';
import { openOperatorPort } from '../../shared/process/operator-port.ts';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { checkHead } from '../guards/head.ts';
import { socketLimiter } from '../guards/socket-limits.ts';
import { cutUnreadAnswers, dropUnreadBodies } from '../guards/unread.ts';
import { type ListeningServer, listen } from '../http/server.ts';
import { addressReader, compileTrust } from '../request/address.ts';
import { type RequestContext, type RequestState, requestContext } from '../request/context.ts';
import { setError, toAppError } from '../request/errors.ts';
import { PATH, toolEndpoint } from './endpoint.ts';

export async function startMcp(config: McpConfig, log: Log): Promise<RunningProcess> {
  await using opening = new AsyncDisposableStack();
  const health = new ProcessHealth();
  health.require(() => isReady(config.upstream));
  opening.adopt(await openOperatorPort(config.operator, health), closePart);
  const endpoint = opening.adopt(toolEndpoint({ ...config, log }), closePart);
  const limitSockets = socketLimiter(config.connections, compileTrust(config.trustProxy), log);
  const server = opening.adopt(await listen(config, limitSockets), (one) => drain(one, health));
  server.serve(createKoa(config, endpoint, health, log).callback());
  health.serving = true;
  const opened = opening.move();
  return { url: server.url + PATH, stop: () => opened.disposeAsync() };
}

/** The order matters, because each middleware wraps the middleware that is added after it. */
function createKoa(
  { sendTimeoutMs, trustProxy, corsOrigins, publicUrl, mcpUrl, production }: McpConfig,
  endpoint: ReturnType<typeof toolEndpoint>,
  health: ProcessHealth,
  log: Log,
): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.use(cutUnreadAnswers(sendTimeoutMs));
  app.use(dropUnreadBodies());
  app.use(requestContext(log, addressReader(trustProxy), () => !health.serving, publicUrl));
  app.use(protocolErrors({ publicUrl, mcpUrl }));
  app.use(checkHead);
  app.use(checkOrigin([new URL(publicUrl).origin, ...corsOrigins], { loopback: !production }));
  app.use(describeResource({ publicUrl, mcpUrl }));
  app.use(endpoint.serve);
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return app;
}

/**
 * JSON-RPC codes by our error codes. The first two are defined by JSON-RPC, the third is ours. All other errors get
 * `OTHER_CODE`.
 */
const JSON_RPC_CODES = { invalid_json: -32700, invalid_request: -32600, not_found: -32001 } as Record<
  string,
  number
>;
const OTHER_CODE = -32000;

function protocolErrors(places: ResourcePlaces) {
  return async (ctx: RequestContext, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const known = toAppError(ctx, error);
      answerError(ctx, known);
      if (ctx.status === 401) ctx.set('WWW-Authenticate', challengeOf(ctx, known.explanation, places));
    }
  };
}

function answerError(ctx: RequestContext, error: AppError): void {
  setError(ctx, error);
  const { code, explanation } = error;
  ctx.type = 'json';
  ctx.body = JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: { code: JSON_RPC_CODES[code] ?? OTHER_CODE, message: explanation, data: { code } },
  });
}

/**
 * Says why a credential was refused (RFC 6750, 3), because many agents show nothing else, and where a program finds out
 * how to log in (RFC 9728, 5.1).
 */
function challengeOf(ctx: RequestContext, why: string, places: ResourcePlaces): string {
  const isSent = ctx.get('Authorization') !== '' || ctx.get('X-Service-API-Key') !== '';
  const { origin, pathname } = new URL(resourceOf(ctx, places));
  const metadata = `${origin}${RESOURCE_METADATA_PATH}${pathname}`;
  const parts = [
    ...(isSent ? [`error="invalid_token"`, `error_description="${why}"`] : []),
    `resource_metadata="${metadata}"`,
    `scope="${DEFAULT_SCOPES.join(' ')}"`,
  ];
  return `Bearer ${parts.join(', ')}`;
}

/** Returns the address that the client used, in development by its own word, if that is an address of this machine. */
function resourceOf(ctx: RequestContext, places: ResourcePlaces): string {
  const asked = `http://${ctx.get('Host')}${PATH}`;
  return (
    places.mcpUrl ??
    (isToolServer(asked, places) ? asked : `http://127.0.0.1:${ctx.req.socket.localPort}${PATH}`)
  );
}

function describeResource(places: ResourcePlaces) {
  const paths = [RESOURCE_METADATA_PATH, RESOURCE_METADATA_PATH + PATH];
  return async (ctx: RequestContext, next: Next): Promise<void> => {
    if (!paths.includes(ctx.path)) return next();
    ctx.state.route = RESOURCE_METADATA_PATH;
    if (ctx.method !== 'GET') {
      ctx.set('Allow', 'GET');
      throw new AppError('method_not_allowed');
    }
    ctx.type = 'json';
    ctx.body = JSON.stringify(resourceMetadata(resourceOf(ctx, places), places.publicUrl));
  };
}

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const PREFLIGHT_MAX_AGE_S = 600;
const CORS = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, X-Service-API-Key, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
};

/**
 * Refuses requests from web pages of other origins with 403. Otherwise any page could call a tool server that runs on
 * its visitor's machine (DNS rebinding). Programs send no `Origin`. `loopback` allows pages that are served from this
 * machine.
 */
function checkOrigin(origins: readonly string[], { loopback }: { loopback: boolean }) {
  const allowed = new Set(origins);
  return async (ctx: RequestContext, next: Next): Promise<void> => {
    const origin = ctx.get('Origin');
    if (origin === '') return next();
    if (!allowed.has(origin) && !(loopback && LOOPBACK.test(origin)))
      throw new AppError('access_denied', {
        explanation: 'Pages of this origin may not use the tool server.',
      });
    ctx.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate, X-Request-Id, Retry-After',
      Vary: 'Origin',
    });
    if (ctx.method !== 'OPTIONS') return next();
    ctx.set(CORS);
    ctx.status = 204;
  };
}

const PROBE_TIMEOUT_MS = 2000;

async function isReady(upstream: string): Promise<void> {
  const answer = await fetch(`${upstream}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error('the ingress is not ready');
}

async function drain(server: ListeningServer, health: ProcessHealth): Promise<void> {
  health.serving = false;
  await server.close(STOP_LIMITS.ingressConnections);
}

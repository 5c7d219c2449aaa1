import { Readable } from 'node:stream';
import { Router, type RouterContext } from '@koa/router';
import type { Next } from 'koa';
import { AppError } from '../shared/errors/app-error.ts';
import { BODY_LIMIT, IDENTIFIER_MAX, IDENTIFIER_PATTERN, NAME_MAX, UUID } from '../shared/schemas/limits.ts';
import { compile, ValidationError, type Validator } from '../shared/schemas/validator.ts';
import type { Credentials } from './auth/credentials.ts';
import type { Answer, Endpoint, ParamKind } from './endpoint.ts';
import type { CountRequest } from './limits/request-limits.ts';
import { networkOf } from './middleware/address.ts';
import { Bodies } from './middleware/body.ts';
import type { RequestContext, RequestState } from './middleware/request-context.ts';

type Context = RouterContext<RequestState>;

/** Serves the table of endpoints, and says 404 or 405 to whatever is not in it. Compiles every schema. */
export function createRouter(
  endpoints: readonly Endpoint[],
  credentials: Credentials,
  countRequest: CountRequest,
): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const steps = { credentials, countRequest, bodies: new Bodies() };
  for (const endpoint of endpoints)
    router.register(patternOf(endpoint), [endpoint.method], serve(endpoint, steps));
  return router.on('not-found', refuse);
}

/** `/v1` has no slash at the end, `/api` answers with and without. */
function patternOf({ path }: Endpoint): string {
  return path.startsWith('/api/') ? path.replace(/\/$/, '{/}') : path;
}

interface Steps {
  credentials: Credentials;
  countRequest: CountRequest;
  bodies: Bodies;
}

/** The steps of every request, in the contract's order. */
function serve(endpoint: Endpoint, { credentials, countRequest, bodies }: Steps) {
  const { bodyLimit: limit = BODY_LIMIT, keepsBody: kept = false } = endpoint;
  const withBody = bodies.reader({ limit, kept });
  const checkBody = endpoint.body && compile(endpoint.body);
  const checkQuery = endpoint.query && compile(endpoint.query, 'query');

  return async (ctx: Context): Promise<void> => {
    const { requestId, log, signal, address } = ctx.state;
    ctx.state.route = endpoint.path;
    const params = checkParams(ctx.params, endpoint.params);
    const app = endpoint.auth === 'app' ? await credentials.app(ctx.headers) : undefined;
    const user = endpoint.auth === 'user' ? await credentials.user(ctx.headers) : undefined;
    ctx.state.appId = app?.id;
    ctx.state.accountId = user?.id;
    if (!endpoint.unlimited) await countRequest(ctx);
    const run = (body: unknown) => {
      const query = checkQuery ? checked(checkQuery, ctx.query) : ctx.query;
      const { headers } = ctx;
      return endpoint.run({ body, query, params, app, user, address, headers, signal, requestId, log });
    };
    const party = app?.id ?? user?.id ?? networkOf(address);
    const answer = checkBody
      ? await withBody(ctx, party, (body) => run(checked(checkBody, body)))
      : await run(undefined);
    send(ctx, endpoint, answer);
  };
}

/** Koa parses the target lazily and throws at one like `http://[`. */
export function checkTarget(ctx: RequestContext, next: Next): Promise<void> {
  try {
    ctx.path;
  } catch {
    throw new AppError('not_found');
  }
  return next();
}

/** The method is wrong when the path alone is known. */
export function refuse(ctx: Context): void {
  const layers = ctx.matched ?? [];
  if (layers.length === 0) throw new AppError('not_found');
  ctx.state.route = String(layers[0]?.path);
  ctx.set('Allow', [...new Set(layers.flatMap((layer) => layer.methods))].sort().join(', '));
  throw new AppError('method_not_allowed');
}

const PARAMS: Record<ParamKind, (value: string) => boolean> = {
  identifier: (value) => IDENTIFIER.test(value) && value.length <= IDENTIFIER_MAX,
  uuid: (value) => UUID.test(value),
  text: (value) => value.isWellFormed() && !value.includes('\0') && [...value].length <= NAME_MAX,
};
const IDENTIFIER = new RegExp(IDENTIFIER_PATTERN);

/** What cannot be an id is no path. The router decodes once and leaves a bad escape as it is. */
function checkParams(
  params: Record<string, string>,
  kinds: Record<string, ParamKind> = {},
): Record<string, string> {
  for (const [name, value] of Object.entries(params))
    if (!PARAMS[kinds[name] ?? 'identifier'](value)) throw new AppError('not_found');
  return params;
}

function checked<T>(check: Validator<T>, value: unknown): T {
  const result = check(value);
  if (!result.ok) throw new ValidationError(result.faults);
  return result.value;
}

function send(
  ctx: Context,
  endpoint: Endpoint,
  { body, status = endpoint.status, headers = {} }: Answer,
): void {
  ctx.status = status;
  ctx.set(headers);
  if (endpoint.response === undefined) return;
  ctx.type = endpoint.responseType ?? 'json';
  ctx.body = body instanceof Readable || typeof body === 'string' ? body : JSON.stringify(body);
}

import { Router, type RouterContext } from '@koa/router';
import type { Next } from 'koa';
import { AppError } from '../shared/errors/app-error.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN, KIB } from '../shared/schemas/limits.ts';
import { compile, ValidationError, type Validator } from '../shared/schemas/validator.ts';
import { authenticateApp, type FindApp } from './auth/app-key.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { jsonReader } from './middleware/body.ts';
import type { RequestContext, RequestState } from './middleware/request-context.ts';

type Context = RouterContext<RequestState>;

const BODY_LIMIT = 256 * KIB;

/** Serves the table of endpoints, and says 404 or 405 to whatever is not in it. Compiles every schema. */
export function createRouter(endpoints: readonly Endpoint[], findApp: FindApp): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const endpoint of endpoints)
    router.register(endpoint.path, [endpoint.method], serve(endpoint, findApp));
  return router.on('not-found', refuse);
}

/** The steps of every request, in the contract's order. */
function serve(endpoint: Endpoint, findApp: FindApp) {
  const readJson = jsonReader(endpoint.bodyLimit ?? BODY_LIMIT);
  const checkBody = endpoint.body && compile(endpoint.body);
  const checkQuery = endpoint.query && compile(endpoint.query, 'query');

  return async (ctx: Context): Promise<void> => {
    const { requestId, log, signal } = ctx.state;
    ctx.state.route = endpoint.path;
    const params = checkIds(ctx.params);
    const app =
      endpoint.auth === 'app' ? await authenticateApp(ctx.get('Authorization'), findApp) : undefined;
    ctx.state.appId = app?.id;
    const body = checkBody && checked(checkBody, await readJson(ctx));
    const query = checkQuery ? checked(checkQuery, ctx.query) : ctx.query;
    const answer = await endpoint.run({
      body,
      query,
      params,
      app,
      headers: ctx.headers,
      signal,
      requestId,
      log,
    });
    send(ctx, endpoint.status, answer);
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
function refuse(ctx: Context): void {
  const layers = ctx.matched ?? [];
  if (layers.length === 0) throw new AppError('not_found');
  ctx.state.route = String(layers[0]?.path);
  ctx.set('Allow', [...new Set(layers.flatMap((layer) => layer.methods))].sort().join(', '));
  throw new AppError('method_not_allowed');
}

const ID = new RegExp(IDENTIFIER_PATTERN);

/** The router decodes once and leaves a bad escape as it is: no id has a `%`. */
function checkIds(params: Record<string, string>): Record<string, string> {
  const areIds = Object.values(params).every((id) => ID.test(id) && id.length <= IDENTIFIER_MAX);
  if (!areIds) throw new AppError('not_found');
  return params;
}

function checked<T>(check: Validator<T>, value: unknown): T {
  const result = check(value);
  if (!result.ok) throw new ValidationError(result.faults);
  return result.value;
}

function send(ctx: Context, status: number, { body, headers = {} }: Answer): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.type = 'json';
  ctx.body = typeof body === 'string' ? body : JSON.stringify(body);
}

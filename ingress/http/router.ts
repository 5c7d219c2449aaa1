import type { ParsedUrlQuery } from 'node:querystring';
import { Readable } from 'node:stream';
import { Router, type RouterContext } from '@koa/router';
import { Box } from '../../shared/box.ts';
import { isDecodable } from '../../shared/config/values.ts';
import type { Reads } from '../../shared/db/access-log.ts';
import {
  hasScope,
  requireFreshLogin,
  requireLogin,
  requireScope,
  type UserPrincipal,
} from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { isStorable } from '../../shared/schemas/build.ts';
import type { Change } from '../../shared/schemas/changes.ts';
import { BODY_BYTES_MAX, BODY_VALUES_MAX, KIB, NAME_MAX, UUID } from '../../shared/schemas/limits.ts';
import { compile, compileQuery, ValidationError, type Validator } from '../../shared/schemas/validator.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import { Bodies, mayOmitBody, pointsOfBody } from '../guards/bodies.ts';
import { AnswerBudget } from '../guards/budgets.ts';
import type { CountRequest } from '../limits/request-limits.ts';
import { networkOf } from '../request/address.ts';
import { isIdentifier, type RequestState } from '../request/context.ts';
import { toAppError } from '../request/errors.ts';
import {
  type Answer,
  type Declaration,
  type Endpoint,
  isEndpoint,
  type ParamKind,
  type Route,
} from './endpoint.ts';
import { scopesOf } from './scopes.ts';

type Context = RouterContext<RequestState>;

/** Maximum bytes per row by which an answer exceeds the posted rows, for example for ids. */
const ADDED_BYTES_PER_ROW = KIB;

export interface RouterDependencies<Parts> {
  routes: readonly Route<Parts>[];
  parts: Parts;
  credentials: Credentials;
  countRequest: CountRequest;
  takeTurn: TakeTurn;
  announceChanged(accountId: string, change: Change): void;
  /** Counts what an account's caller has read. */
  noteReads(user: UserPrincipal, reads: Reads): void;
  /** Maximum time of the checks of a credential and of the rate limit. */
  checksTimeoutMs: number;
}

/** Creates the router. Requests outside the route table get 404 or 405. */
export function createRouter<Parts>(dependencies: RouterDependencies<Parts>): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const bodies = new Bodies(dependencies.countRequest);
  const answers = new AnswerBudget();
  for (const route of dependencies.routes) {
    const serve = isEndpoint(route)
      ? serveEndpoint(route, dependencies, { bodies, answers })
      : async (ctx: Context) => {
          await dependencies.countRequest(ctx);
          await route.serve(ctx, dependencies.parts);
          const { accountId } = ctx.state;
          // The pages on which a person lets apps and programs in, and sets a new password.
          if (accountId === undefined || route.method !== 'POST') return;
          for (const change of ['connections', 'account'] as const)
            dependencies.announceChanged(accountId, change);
        };
    const hasParams = route.path.includes(':');
    router.register(patternOf(route), [route.method], (ctx: Context) => {
      // Another route has exactly this path, but not this method: answers 405 instead of matching the parameter.
      if (hasParams && fixedLayers(ctx).length > 0) refuse(ctx);
      // The router does not decode malformed percent-encoding, and no such path exists.
      if (hasParams && !isDecodable(ctx.path)) throw new AppError('not_found');
      ctx.state.route = route.path;
      return serve(ctx);
    });
  }
  return router.on('not-found', refuse);
}

function patternOf({ surface, path }: Pick<Route, 'surface' | 'path'>): string {
  return surface === 'api' ? path.replace(/\/$/, '{/}') : path;
}

/** Serves an endpoint. The order of the steps decides which error a request gets, so it is part of the API. */
function serveEndpoint<Parts>(
  endpoint: Endpoint<Parts>,
  {
    parts,
    credentials,
    countRequest,
    takeTurn,
    noteReads,
    announceChanged,
    checksTimeoutMs,
  }: RouterDependencies<Parts>,
  { bodies, answers }: { bodies: Bodies; answers: AnswerBudget },
) {
  const {
    bodyLimit: limit = BODY_BYTES_MAX,
    bodyValues: values = BODY_VALUES_MAX,
    credential,
    boxesBody,
    pointPerItemOf,
    inTurn,
    // The body stays in memory while the request waits for its turn.
    keepsBody = inTurn !== undefined,
  } = endpoint;
  const withBody = bodies.reader({ credential, limit, values, keepsBody, mayBeEmpty: mayOmitBody(endpoint) });
  // Errors must not quote an unknown property: it may be a password under a misspelled name.
  const confidential = /^\/(api|console)\/auth\//.test(endpoint.path);
  const checkBody = endpoint.body && compile(endpoint.body, 'body', { confidential });
  const checkQuery = queryCheck(endpoint);
  const takesKey = endpoint.requestHeaders?.includes('Idempotency-Key');

  const checkSender = async (ctx: Context) => {
    const { address } = ctx.state;
    const app = credential === 'app' ? await credentials.app(ctx.headers, address) : undefined;
    const user = credential === 'user' ? await credentials.user(ctx.headers, address) : undefined;
    ctx.state.appId = app?.id;
    ctx.state.accountId = user?.id;
    if (!endpoint.unlimited) await countRequest(ctx);
    return { app, user };
  };

  return async (ctx: Context): Promise<void> => {
    const since = performance.now();
    const { signal, address } = ctx.state;
    const params = checkParams(ctx.params, endpoint.params);
    if (credential !== 'none') refuseRepeated(ctx, 'authorization');
    const { app, user } = await withTimeout(
      checksTimeoutMs,
      () => checkSender(ctx),
      () => new AppError('service_unavailable'),
    );
    ctx.state.checkedMs = performance.now() - since;
    if (takesKey) refuseRepeated(ctx, 'idempotency-key');
    if (user !== undefined) {
      if (endpoint.login === 'fresh') requireFreshLogin(user);
      if (endpoint.login === 'any') requireLogin(user);
      requireScope(user, scopesOf(endpoint));
    }
    const sender = app?.id ?? user?.id ?? networkOf(address);
    const share = answers.open(sender, signal);
    ctx.res.once('close', share.free);
    const { reserve } = share;
    const run = async (body: unknown, bytes = 0) => {
      const query = checkQuery(ctx.query);
      const input = { body, query, params, app, user, address, headers: ctx.headers, signal, reserve };
      const handle = () => endpoint.run(input, parts);
      // The answer repeats the posted rows. Reserves memory for it now, so that the request does not wait for memory
      // during its turn.
      if (inTurn && Array.isArray(body)) await reserve(bytes + ADDED_BYTES_PER_ROW * body.length);
      const answer = await (inTurn && user
        ? takeTurn({ party: `${user.id} ${inTurn}`, gone: signal }, handle)
        : handle());
      if (endpoint.changes && user) announceChanged(user.id, endpoint.changes);
      return answer ?? {};
    };
    const answer = checkBody
      ? await withBody(ctx, sender, (sent, bytes) => {
          const body = valueOrThrow(checkBody(sent));
          const input = boxesBody ? new Box(body) : body;
          if (pointPerItemOf === undefined) return run(input, bytes);
          const { length } = (body as Record<string, unknown[]>)[pointPerItemOf] ?? [];
          return countRequest(ctx, length - 1, pointsOfBody(bytes)).then(() => run(input, bytes));
        })
      : await run(undefined);
    const isHidden = endpoint.showsStored && user !== undefined && !hasScope(user, ['read']);
    if (user !== undefined && answer.read !== undefined) noteReads(user, answer.read);
    send(ctx, endpoint, isHidden ? { status: 204 } : answer);
    // A stream has no length; its handler reserves memory for it.
    if (ctx.length !== undefined) share.shrinkTo(ctx.length);
  };
}

/** Refuses a repeated header, because Node and a proxy in front may disagree about which value counts. */
function refuseRepeated({ req }: Context, header: 'authorization' | 'idempotency-key'): void {
  const { [header]: values = [] } = req.headersDistinct;
  if (values.length > 1) throw new AppError('invalid_request');
}

function fixedLayers({ matched = [] }: Context) {
  return matched.filter(({ paramNames }) => paramNames.length === 0);
}

function refuse(ctx: Context): never {
  const fixed = fixedLayers(ctx);
  const layers = fixed.length > 0 ? fixed : (ctx.matched ?? []);
  if (layers.length === 0) throw new AppError('not_found');
  ctx.state.route = String(layers[0]?.path);
  ctx.set('Allow', [...new Set(layers.flatMap((layer) => layer.methods))].sort().join(', '));
  throw new AppError('method_not_allowed');
}

const PARAM_CHECKS: Record<ParamKind, (value: string) => boolean> = {
  identifier: isIdentifier,
  uuid: (value) => UUID.test(value),
  text: (value) => isStorable(value) && [...value].length <= NAME_MAX,
};

function checkParams(
  params: Record<string, string>,
  kinds: Record<string, ParamKind>,
): Record<string, string> {
  for (const [name, kind] of Object.entries(kinds))
    if (!PARAM_CHECKS[kind](params[name] ?? '')) throw new AppError('not_found');
  return params;
}

function queryCheck({
  query,
  queryError,
}: Pick<Declaration, 'query' | 'queryError'>): (sent: ParsedUrlQuery) => unknown {
  if (query === undefined) return (sent) => sent;
  const check = compileQuery(query);
  return (sent) => valueOrThrow(check(sent), queryError);
}

function valueOrThrow<T>(result: ReturnType<Validator<T>>, code?: ErrorCode): T {
  if (result.ok) return result.value;
  throw code === undefined ? new ValidationError(result.faults) : new AppError(code);
}

function send(
  ctx: Context,
  endpoint: Pick<Endpoint, 'status' | 'response' | 'responseType'>,
  { body, status = endpoint.status, type = endpoint.responseType ?? 'json', headers = {} }: Answer,
): void {
  ctx.status = status;
  ctx.set(headers);
  if (endpoint.response === undefined || status === 204) return;
  ctx.type = type;
  if (body instanceof Readable) body.once('error', (error) => logBrokenStream(ctx, error));
  ctx.body = body instanceof Readable || typeof body === 'string' ? body : JSON.stringify(body);
}

/** Logs why an answer's stream broke off, after its status was sent and its access line written. */
function logBrokenStream(ctx: Context, error: unknown): void {
  const { code } = toAppError(ctx, error);
  ctx.state.log.warn({ errorCode: code }, 'answer broken off');
}

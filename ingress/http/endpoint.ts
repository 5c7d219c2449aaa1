import type { IncomingHttpHeaders } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import type { Readable } from 'node:stream';
import type { RouterContext } from '@koa/router';
import type { Static, TObject, TSchema } from 'typebox';
import type { Box } from '../../shared/box.ts';
import type { Reads } from '../../shared/db/access-log.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import type { Scope } from '../../shared/schemas/accounts.ts';
import type { Change } from '../../shared/schemas/changes.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import type { Credential, Paths, RequestState, Surface } from '../request/context.ts';
import type { RequestHeader, ResponseHeader } from './headers.ts';

/** Sections of the API document. */
export const TAGS = {
  Connections: 'Link a user of an app to a Forecue account, with PKCE, and end the link.',
  Predictions: 'Ask for a completion, cancel it, and report what became of it.',
  Usage: 'What an app has used and what it costs.',
  Accounts: 'Sign up, log in, and manage keys.',
  Recording: 'Push events and read them back, by session.',
  Memory: 'What is remembered about the account: raw rows, episodes, facts, and its profile.',
  Replies: 'Predict what the person would reply to an agent, and report what they did reply.',
  Jobs: 'Work that goes on whether or not its caller waits.',
  Decisions: 'What was decided for a person, and what may be.',
  'Own connections': 'The apps that may use an account, seen by its owner.',
  Apps: 'The apps that an account has made, if the operator lets people make apps.',
  Webhooks: 'Addresses to which events of an account or of its apps are sent.',
  Console: 'Logging in to the page at `/console/`, for that page alone.',
  Health: 'For load balancers.',
};
export type Tag = keyof typeof TAGS;

/** An endpoint's details. Its method, path and credential are in the route table. */
export interface Declaration {
  /** Name in generated clients. */
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Requires an access token, `fresh`: whose log-in is less than ten minutes old. A key is refused. */
  login?: 'any' | 'fresh';
  /**
   * A key needs one of these scopes; by default, the scope of the method (`scopesOf`). None: a key with scopes is
   * refused.
   */
  scopes?: readonly Scope[];
  /** The answer has more than was posted: a key without the scope `read` gets 204 in its place. */
  showsStored?: boolean;
  /** What a success has changed of the account. */
  changes?: Change;
  /** Exempts the endpoint from the rate limits. */
  unlimited?: boolean;
  /**
   * Queue in which an account's requests take turns, for endpoints that lock the account's row or read all its data.
   * Endpoints that secure the account use `account`, so that a thief who fills `memory` cannot keep the owner out.
   */
  inTurn?: 'memory' | 'account';
  /** Shape of each path parameter; a value of another shape is answered with 404. */
  params?: Record<string, ParamKind>;
  body?: TSchema;
  /** Property of the body with a list whose items cost a point each. */
  pointPerItemOf?: string;
  /** Schema of one row, if the body is a list whose rows the handler checks one by one. */
  rows?: TSchema;
  /** Maximum bytes of the unpacked body; `BODY_BYTES_MAX` by default. */
  bodyLimit?: number;
  /** Maximum number of values and property names in the body; `BODY_VALUES_MAX` by default. */
  bodyValues?: number;
  /**
   * Counts the body in the memory budget until the handler ends, instead of only until it first awaits. True by default
   * for endpoints with `inTurn`.
   */
  keepsBody?: boolean;
  /** Passes the body in a box, because the handler waits long, and must not keep the body in memory meanwhile. */
  boxesBody?: boolean;
  query?: TObject;
  /** Error code for an invalid query, in place of the 422. */
  queryError?: ErrorCode;
  /** Headers that the endpoint reads, besides `X-Request-Id`. */
  requestHeaders?: readonly RequestHeader[];
  /** Error codes besides those that `possibleErrors` derives. */
  errors?: readonly ErrorCode[];
  /** Status of a success, 200 by default; a handler may answer with `otherStatus` instead. */
  status?: number;
  otherStatus?: number;
  /** Schema of a success's body; undefined if a success has no body. */
  response?: TSchema;
  /** Schema of the body with `otherStatus`; `response` by default. */
  otherResponse?: TSchema;
  /** Media type of a success; JSON by default. */
  responseType?: string;
  /** The endpoint also answers with server-sent events: the name of the one with the answer. */
  streams?: 'done' | 'changed';
  responseHeaders?: readonly ResponseHeader[];
}

/** `identifier`: matches `IDENTIFIER_PATTERN`; `uuid`: the id of a row; `text`: any text up to 200 code points. */
export type ParamKind = 'identifier' | 'uuid' | 'text';

interface EndpointInput<C extends Credential, D> {
  body: BodyOf<D>;
  query: D extends { query: infer Q extends TSchema } ? Static<Q> : ParsedUrlQuery;
  params: Record<ParamNames<D>, string>;
  app: C extends 'app' ? AppPrincipal : undefined;
  user: C extends 'user' ? UserPrincipal : undefined;
  /** Address of the client, behind the proxies of `TRUST_PROXY`. */
  address: string;
  headers: IncomingHttpHeaders;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  /** Reserves memory for an answer that may be large, until the answer is sent. */
  reserve: ReserveAnswerMemory;
}

type BodyOf<D> = D extends { body: infer B extends TSchema }
  ? D extends { boxesBody: true }
    ? Box<Static<B>>
    : Static<B>
  : undefined;

type ParamNames<D> = D extends { params: infer P } ? keyof P & string : never;

/** Result of a handler. A string in `body` is sent as it is. */
export interface Answer<Body = unknown> {
  body?: Body | string | Readable;
  status?: number;
  /** Media type, in place of the declared one. */
  type?: string;
  headers?: Record<string, string>;
  /** Numbers of the account's stored rows in the body. A stream's handler counts them itself. */
  read?: Reads;
}

type ResponseOf<D> =
  | (D extends { response: infer R extends TSchema } ? Static<R> : undefined)
  | (D extends { otherResponse: infer R extends TSchema } ? Static<R> : never);

/** A success without a body needs no answer. */
type AnswerOf<D> = Answer<ResponseOf<D>> | (D extends { response: TSchema } ? never : undefined);

/**
 * An endpoint as declared; the route table adds its method and path. `Params` are the parameters that the path must
 * have, `Parts` the services that the handler uses.
 */
interface DeclaredEndpoint<C extends Credential, Params extends string, Parts> extends Declaration {
  status: number;
  credential: C;
  params: Record<Params, ParamKind>;
  run: (input: ErasedInput<Params>, parts: Parts) => Promise<Answer | undefined>;
}

interface ErasedInput<Params extends string = string>
  extends Omit<EndpointInput<Credential, unknown>, 'body' | 'query' | 'params' | 'app' | 'user'> {
  body: unknown;
  query: unknown;
  params: Record<Params, string>;
  app: AppPrincipal | undefined;
  user: UserPrincipal | undefined;
}

/**
 * Declares an endpoint: `endpoint('app', {…}).handle(async ({ body, app }, { store }: Parts) => ({ body: … }))`. Two
 * calls, so that TypeScript infers the declaration's types before it checks the handler against them.
 */
export function endpoint<C extends Credential, const D extends Declaration>(credential: C, declaration: D) {
  return {
    handle<Parts>(
      handler: (input: EndpointInput<C, D>, parts: Parts) => Promise<AnswerOf<D>>,
    ): DeclaredEndpoint<C, ParamNames<D>, Parts> {
      const { params = {} } = declaration;
      return {
        status: 200,
        ...declaration,
        credential,
        // Without `params`, `ParamNames` is empty, so an empty record is complete.
        params: params as Record<ParamNames<D>, ParamKind>,
        // The router passes only input that it has checked against this declaration.
        run: handler as unknown as DeclaredEndpoint<C, ParamNames<D>, Parts>['run'],
      };
    },
  };
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Fields that endpoints and pages share in the route table. Credential `browser` is the cookie of our own pages. */
interface RoutePlace<C> {
  surface: Surface;
  method: Method;
  path: string;
  credential: C;
}

/** An endpoint in the route table. Both the router and the API document are made from it. */
export interface Endpoint<Parts = never> extends RoutePlace<Credential>, Declaration {
  status: number;
  params: Record<string, ParamKind>;
  run: (input: ErasedInput, parts: Parts) => Promise<Answer | undefined>;
}

/** A page or file for people, which reads the request and writes the answer itself. */
interface Page<Parts = never> extends RoutePlace<'browser' | 'none'> {
  serve: (ctx: PageContext, parts: Parts) => Promise<void> | void;
}

export type PageContext = RouterContext<RequestState>;

export type Route<Parts = never> = Endpoint<Parts> | Page<Parts>;

export function isEndpoint<Parts>(route: Route<Parts>): route is Endpoint<Parts> {
  return 'run' in route;
}

type NamesIn<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Makes rows of the route table. An endpoint that needs another credential or path parameter does not compile. */
export function endpointsOn<S extends Surface>(surface: S) {
  return <C extends Credential, P extends Paths[S], Parts>(
    method: Method,
    path: P,
    credential: C,
    declared: DeclaredEndpoint<NoInfer<C>, NamesIn<P>, Parts>,
  ): Endpoint<Parts> => {
    // The types above make sure that `path` has the parameters that `run` needs.
    const run = declared.run as Endpoint<Parts>['run'];
    return { ...declared, surface, method, path, credential, run };
  };
}

export function pagesOn<S extends Surface>(surface: S) {
  return <Parts>(
    method: 'GET' | 'POST',
    path: Paths[S],
    credential: Page['credential'],
    serve: Page<Parts>['serve'],
  ): Page<Parts> => ({ surface, method, path, credential, serve });
}

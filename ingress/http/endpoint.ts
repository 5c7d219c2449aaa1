import type { IncomingHttpHeaders } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import type { Readable } from 'node:stream';
import type { RouterContext } from '@koa/router';
import type { Static, TObject, TSchema } from 'typebox';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import type { Scope } from '../../shared/schemas/accounts.ts';
import type { Reserve } from '../guards/budgets.ts';
import type { Paths, RequestState, Surface } from './request-context.ts';

/** Credential that may call: an app by its key, a user by a token or key, or anyone. */
export type Credential = 'app' | 'user' | 'none';

/** Sections of the API document. */
export type Tag =
  | 'Connections'
  | 'Predictions'
  | 'Usage'
  | 'Accounts'
  | 'Recording'
  | 'Memory'
  | 'Replies'
  | 'Jobs'
  | 'Own connections'
  | 'Console'
  | 'Health';

/** Headers that a caller may send. Every endpoint reads the last. */
export type RequestHeader =
  | 'Accept'
  | 'Idempotency-Key'
  | 'Last-Event-ID'
  | 'Prefer'
  | 'X-On-Disconnect'
  | 'X-Request-Id';

/** Headers that an answer may carry. */
export type ResponseHeader =
  | 'X-Request-Id'
  | 'X-Error-Source'
  | 'WWW-Authenticate'
  | 'Retry-After'
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'Link'
  | 'Idempotency-Replayed'
  | 'Preference-Applied'
  | 'Set-Cookie'
  | 'Server-Timing';

/** An endpoint's details, declared as data. Its method, path and credential stand in the table of routes. */
export interface Declaration {
  /** Name in generated clients. */
  operationId: string;
  tag: Tag;
  /** One line for the reader of the document; `description` says more, in Markdown. */
  summary: string;
  description?: string;
  /** Needs an access token whose log-in is younger than ten minutes; a key does not do. */
  freshLogin?: boolean;
  /** The scopes, any of which lets a key call it; by default the one of its method (`scopesOf`). */
  scopes?: readonly Scope[];
  /** Exempt from the rate limits. */
  unlimited?: boolean;
  /**
   * Locks the account's row or reads all of its rows: takes turns with what else of the account does. What secures the account
   * waits in a line of its own, so that a thief who fills the other one does not keep the owner from it.
   */
  inTurn?: 'memory' | 'account';
  /** Shape of each of the path's parameters; any other is 404. */
  params?: Record<string, ParamKind>;
  body?: TSchema;
  /** Schema of a row of a body that is a list, where the handler checks each row on its own. */
  rows?: TSchema;
  /** Bytes of the body, unpacked; `BODY_LIMIT` by default. */
  bodyLimit?: number;
  /** Values and names of properties in the body, together; `BODY_VALUES` by default. */
  bodyValues?: number;
  /**
   * Keeps the body in the memory budget until the answer is sent. Otherwise it counts only until the handler first awaits:
   * handlers of large bodies have dropped it by then.
   */
  keepsBody?: boolean;
  query?: TObject;
  /** The code for a bad query, where that is not a 422. */
  queryError?: ErrorCode;
  /** The headers it reads, besides those that every endpoint reads. */
  requestHeaders?: readonly RequestHeader[];
  /** Errors besides those of every endpoint (404, 405, its credential's and its body's errors). */
  errors: readonly ErrorCode[];
  /** Status of a success. A handler may answer with `otherStatus` instead. */
  status: number;
  otherStatus?: number;
  /** Left out: no body. */
  response?: TSchema;
  /** The body that goes with `otherStatus`; the same by default. */
  otherResponse?: TSchema;
  /** Media type of a success; JSON by default. */
  responseType?: string;
  /** Also answers with server-sent events, to those who accept them. */
  streams?: boolean;
  /** The headers a success may carry, besides those of every answer. */
  responseHeaders?: readonly ResponseHeader[];
}

/** `identifier`: like our own ids; `uuid`: a row's id; `text`: whatever a client chose, up to 200 code points. */
export type ParamKind = 'identifier' | 'uuid' | 'text';

/** Input of a handler, as its credential and its declaration say. */
interface EndpointInput<C extends Credential, D> {
  body: D extends { body: infer B extends TSchema } ? Static<B> : undefined;
  query: D extends { query: infer Q extends TSchema } ? Static<Q> : ParsedUrlQuery;
  params: Record<ParamNames<D>, string>;
  app: C extends 'app' ? AppPrincipal : undefined;
  user: C extends 'user' ? UserPrincipal : undefined;
  /** The client's address, by `TRUST_PROXY`. */
  address: string;
  headers: IncomingHttpHeaders;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  /** For an answer that may be large. The room is held until the answer is sent. */
  reserve: Reserve;
}

type ParamNames<D> = D extends { params: infer P } ? keyof P & string : never;

/** Result of a handler. A string is JSON that was rendered before, sent byte for byte. */
export interface Answer<Body = unknown> {
  body?: Body | string | Readable;
  status?: number;
  /** Instead of the declaration's. */
  type?: string;
  headers?: Record<string, string>;
}

type ResponseOf<D> =
  | (D extends { response: infer R extends TSchema } ? Static<R> : undefined)
  | (D extends { otherResponse: infer R extends TSchema } ? Static<R> : never);

/**
 * An endpoint before the table gives it a place. `Params` are the parameters that its path must have, `Parts` what its
 * handler works with.
 */
interface DeclaredEndpoint<C extends Credential, Params extends string, Parts> extends Declaration {
  credential: C;
  params: Record<Params, ParamKind>;
  run: (input: ErasedInput<Params>, parts: Parts) => Promise<Answer>;
}

/** Input from the router: it checked the rest against the declaration. */
interface ErasedInput<Params extends string = string>
  extends Omit<EndpointInput<Credential, unknown>, 'body' | 'query' | 'params' | 'app' | 'user'> {
  body: unknown;
  query: unknown;
  params: Record<Params, string>;
  app: AppPrincipal | undefined;
  user: UserPrincipal | undefined;
}

/**
 * Declares an endpoint: `endpoint('app', {…}).handle(async ({ body, app }, { store }: Parts) => ({ body: … }))`. Two calls,
 * so that the declaration's types are fixed before the handler is checked against them.
 */
export function endpoint<C extends Credential, const D extends Declaration>(credential: C, declaration: D) {
  return {
    handle<Parts>(
      handler: (input: EndpointInput<C, D>, parts: Parts) => Promise<Answer<ResponseOf<D>>>,
    ): DeclaredEndpoint<C, ParamNames<D>, Parts> {
      const { params = {} } = declaration;
      return {
        ...declaration,
        credential,
        // Without `params` there are no names, and an empty record has them all.
        params: params as Record<ParamNames<D>, ParamKind>,
        // The router hands over only what it checked against this very declaration.
        run: handler as unknown as DeclaredEndpoint<C, ParamNames<D>, Parts>['run'],
      };
    },
  };
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Surface of the product that a route belongs to; `browser` is the cookie of our own pages. */
interface Place<C> {
  surface: Surface;
  method: Method;
  path: string;
  credential: C;
}

/** An endpoint in its place, its types erased: the router and the API document are both made from it. */
export interface Endpoint<Parts = never> extends Place<Credential>, Declaration {
  params: Record<string, ParamKind>;
  run: (input: ErasedInput, parts: Parts) => Promise<Answer>;
}

/** A page or a file, made for people rather than programs. */
interface Page<Parts = never> extends Place<'browser' | 'none'> {
  serve: ServePage<Parts>;
}

/** Reads the request and writes the answer itself. */
type ServePage<Parts> = (ctx: PageContext, parts: Parts) => Promise<void> | void;

export type PageContext = RouterContext<RequestState>;

/** One row of the table of routes. `Parts` is what its handler works with. */
export type Route<Parts = never> = Endpoint<Parts> | Page<Parts>;

export function isEndpoint<Parts>(route: Route<Parts>): route is Endpoint<Parts> {
  return 'run' in route;
}

type NamesIn<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Writes rows of a surface's endpoints. Handlers that need another credential or other parameters do not compile. */
export function endpointsOn<S extends Surface>(surface: S) {
  return <C extends Credential, P extends Paths[S], Parts>(
    method: Method,
    path: P,
    credential: C,
    declared: DeclaredEndpoint<NoInfer<C>, NamesIn<P>, Parts>,
  ): Endpoint<Parts> => {
    // `path` has the very parameters that `run` wants: the types above say so.
    const run = declared.run as Endpoint<Parts>['run'];
    return { ...declared, surface, method, path, credential, run };
  };
}

/** Writes rows of a surface's pages. */
export function pagesOn<S extends Surface>(surface: S) {
  return <Parts>(
    method: 'GET' | 'POST',
    path: Paths[S],
    credential: Page['credential'],
    serve: ServePage<Parts>,
  ): Page<Parts> => ({ surface, method, path, credential, serve });
}

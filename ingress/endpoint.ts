import type { IncomingHttpHeaders } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { UserPrincipal } from '../shared/domain/account.ts';
import type { AppPrincipal } from '../shared/domain/app.ts';
import type { ErrorCode } from '../shared/errors/catalogue.ts';
import type { Log } from '../shared/log.ts';
import type { RequestHeader, ResponseHeader } from './openapi/headers.ts';
import type { Tag } from './openapi/tags.ts';

/** One HTTP operation, declared as data: the router and the API document are both made from it. */
export interface EndpointSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/api` is served with and without the slash at the end that the path has. */
  path: `/${string}`;
  /** What generated clients call it. */
  operationId: string;
  tag: Tag;
  /** One line for the reader of the document; `description` says more, in Markdown. */
  summary: string;
  description?: string;
  auth: 'app' | 'user' | 'none';
  /** Not counted by the rate limits. */
  unlimited?: boolean;
  /** What the path's parameters must be, or the path is 404; an identifier where it is not said. */
  params?: Record<string, ParamKind>;
  body?: TSchema;
  /** What a row of a body that is a list should be, where the handler checks each on its own. */
  rows?: TSchema;
  /** Bytes of the body, unpacked. */
  bodyLimit?: number;
  /**
   * What was sent is held until the answer, and counts against the budget for bodies until then. Elsewhere it counts until
   * the handler first waits: large ones have dropped it then.
   */
  keepsBody?: boolean;
  query?: TObject;
  /** Query parameters that the handler checks itself, so that their fault is no 422. */
  ownQuery?: TObject;
  /** Headers of its own that it heeds, besides those of every endpoint. */
  requestHeaders?: readonly RequestHeader[];
  /** What it may answer besides what every endpoint may (404, 405, its credential's and its body's errors). */
  errors: readonly ErrorCode[];
  /** Of success. A handler may answer with `otherStatus` instead. */
  status: number;
  otherStatus?: number;
  /** Left out: no body. */
  response?: TSchema;
  /** Of a success; JSON where it is not said. */
  responseType?: string;
  /** Headers of its own that a success may carry, besides those of every answer. */
  responseHeaders?: readonly ResponseHeader[];
}

/** `identifier`: as in our own ids; `uuid`: of a row; `text`: whatever a client chose, up to 200 code points. */
export type ParamKind = 'identifier' | 'uuid' | 'text';

/** What a handler is given. */
export interface EndpointInput<S> {
  body: S extends { body: infer B extends TSchema } ? Static<B> : undefined;
  /** As the schema says; without one, as it was sent. */
  query: S extends { query: infer Q extends TSchema } ? Static<Q> : ParsedUrlQuery;
  params: S extends { path: infer P extends string } ? PathParams<P> : never;
  app: S extends { auth: 'app' } ? AppPrincipal : undefined;
  user: S extends { auth: 'user' } ? UserPrincipal : undefined;
  /** The client's address, by `TRUST_PROXY`. */
  address: string;
  headers: IncomingHttpHeaders;
  /** Aborted when the caller's connection closes before the answer was sent. */
  signal: AbortSignal;
  requestId: string;
  log: Log;
}

/** What a handler gives back. A string is JSON that was rendered before, sent byte for byte. */
export interface Answer<Body = unknown> {
  body?: Body | string | Readable;
  status?: number;
  headers?: Record<string, string>;
}

/** An endpoint as the router sees it, its types erased. */
export interface Endpoint extends EndpointSpec {
  run(input: ErasedInput): Promise<Answer>;
}

interface ErasedInput extends Omit<EndpointInput<unknown>, 'body' | 'query' | 'params' | 'app' | 'user'> {
  body: unknown;
  query: unknown;
  params: Record<string, string>;
  app: AppPrincipal | undefined;
  user: UserPrincipal | undefined;
}

type ResponseOf<S> = S extends { response: infer R extends TSchema } ? Static<R> : undefined;

type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & PathParams<Rest>
  : P extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/**
 * Declares an endpoint: `endpoint({…}).handle(async ({ body, app }) => ({ body: … }))`. Two calls, so that
 * the declaration's types are fixed before the handler is checked against them.
 */
export function endpoint<const S extends EndpointSpec>(spec: S) {
  return {
    handle(handler: (input: EndpointInput<S>) => Promise<Answer<ResponseOf<S>>>): Endpoint {
      // The router hands over only what it checked against this very declaration.
      return { ...spec, run: handler as unknown as Endpoint['run'] };
    },
  };
}

import type { RouterContext } from '@koa/router';
import type {
  Answer,
  Credential,
  Declaration,
  DeclaredEndpoint,
  ErasedInput,
  ParamKind,
} from './endpoint.ts';
import type { RequestState } from './request-context.ts';
import type { Paths, Surface } from './surface.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where a route stands in the product; `browser` is the cookie of our own pages. */
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
export interface Page<Parts = never> extends Place<'browser' | 'none'> {
  serve: ServePage<Parts>;
}

/** Reads the request and writes the answer itself. */
export type ServePage<Parts> = (ctx: PageContext, parts: Parts) => Promise<void> | void;

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

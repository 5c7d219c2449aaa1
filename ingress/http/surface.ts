/**
 * The parts of the address space, each with its own manners: `api` explains its errors in a sentence and takes paths
 * with and without their last slash, `connect` answers with pages, `v1` and the rest of the `site` with codes alone.
 */
export type Surface = keyof Paths;

/** What the paths of each surface look like. */
export interface Paths {
  v1: `/v1/${string}`;
  api: `/api/${string}/`;
  connect: `/connect/${string}`;
  site: `/${string}`;
}

/** The path of a request's target, which may name the host as well (RFC 9112, 3.2.2). */
export function pathIn(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

/** The surface that a request means, whether or not its path is an endpoint's: its refusals depend on it. */
export function surfaceOf(path: string): Surface {
  if (path.startsWith('/v1/')) return 'v1';
  if (path.startsWith('/api/')) return 'api';
  return /^\/connect(\/|$)/.test(path) ? 'connect' : 'site';
}

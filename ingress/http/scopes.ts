import type { Scope } from '../../shared/schemas/accounts.ts';
import type { Endpoint, Method } from './endpoint.ts';

const METHOD_SCOPES: Record<Method, Scope> = {
  GET: 'read',
  POST: 'write',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'forget',
};

/** Returns the scopes of which a key needs one; by default, the scope of the endpoint's method. */
export function scopesOf({ method, scopes = [METHOD_SCOPES[method]] }: Endpoint): readonly Scope[] {
  return scopes;
}

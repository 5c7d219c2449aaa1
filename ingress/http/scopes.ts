import type { Scope } from '../../shared/schemas/accounts.ts';
import type { Endpoint, Method } from './endpoint.ts';

const METHOD_SCOPES: Record<Method, Scope> = {
  GET: 'read',
  POST: 'write',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'forget',
};

/** Returns the scopes that allow a key to call the endpoint; one of them is enough. */
export function scopesOf({ method, scopes = [METHOD_SCOPES[method]] }: Endpoint): readonly Scope[] {
  return scopes;
}

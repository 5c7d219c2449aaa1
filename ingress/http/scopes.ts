import type { Scope } from '../../shared/schemas/accounts.ts';
import type { Endpoint, Method } from './endpoint.ts';

const BY_METHOD: Record<Method, Scope> = {
  GET: 'read',
  POST: 'write',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'forget',
};

/** The scopes of a key, any of which lets it call the endpoint: those that are declared, or the one of its method. */
export function scopesOf({ method, scopes = [BY_METHOD[method]] }: Endpoint): readonly Scope[] {
  return scopes;
}

import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import type { EndpointSpec } from '../endpoint.ts';

const CREDENTIAL: Record<EndpointSpec['auth'], readonly ErrorCode[]> = {
  app: ['invalid_app_key'],
  user: ['not_authenticated', 'token_expired'],
  none: [],
};
/** `overloaded`: there is no room for a body that is not small. */
const BODY: readonly ErrorCode[] = ['invalid_json', 'invalid_content_type', 'body_too_large', 'overloaded'];

/**
 * Every code that the endpoint may answer with, in the catalogue's order. What no endpoint foresees is left out: 404
 * and 405 of what is no endpoint, and 500.
 */
export function possibleErrors({ auth, body, unlimited, errors }: EndpointSpec): ErrorCode[] {
  const possible = new Set<ErrorCode>([
    ...CREDENTIAL[auth],
    ...(unlimited ? [] : (['rate_limited'] as const)),
    ...(body === undefined ? [] : BODY),
    ...(needsDatabase({ auth, body }) ? (['service_unavailable'] as const) : []),
    ...errors,
  ]);
  return (Object.keys(catalogue) as ErrorCode[]).filter((code) => possible.has(code));
}

/** Whether a fault in what was sent is answered with the list of a 422. */
export function isValidated({ body, query }: EndpointSpec): boolean {
  return body !== undefined || query !== undefined;
}

/** A credential is looked up there, and what is sent is kept there; others say it themselves. */
function needsDatabase({ auth, body }: Pick<EndpointSpec, 'auth' | 'body'>): boolean {
  return auth !== 'none' || body !== undefined;
}

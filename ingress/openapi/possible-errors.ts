import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import { BODY_LIMIT } from '../../shared/schemas/limits.ts';
import { UNCOUNTED } from '../http/body-budget.ts';
import type { Credential } from '../http/endpoint.ts';
import type { Endpoint } from '../http/route.ts';

const CREDENTIAL: Record<Credential, readonly ErrorCode[]> = {
  app: ['invalid_request', 'invalid_app_key'],
  user: ['invalid_request', 'not_authenticated', 'token_expired'],
  none: [],
};
const FRESH_LOGIN: readonly ErrorCode[] = ['access_denied', 'fresh_login_required'];
const BODY: readonly ErrorCode[] = ['invalid_json', 'invalid_content_type', 'body_too_large'];

/**
 * Every code that the endpoint may answer with, in the catalogue's order. What is the same everywhere is left out: 404
 * and 405 off the table of routes, what HTTP itself refuses, and 500.
 */
export function possibleErrors(endpoint: Endpoint): ErrorCode[] {
  const {
    credential,
    freshLogin,
    body,
    bodyLimit = BODY_LIMIT,
    queryError,
    unlimited,
    inTurn,
    errors,
  } = endpoint;
  const possible = new Set<ErrorCode>([
    ...CREDENTIAL[credential],
    ...(freshLogin ? FRESH_LOGIN : []),
    ...(unlimited ? [] : (['rate_limited'] as const)),
    ...(body === undefined ? [] : BODY),
    // No room for a body that is not small, or too many of the account wait.
    ...((body !== undefined && bodyLimit > UNCOUNTED) || inTurn ? (['overloaded'] as const) : []),
    ...(needsDatabase({ credential, body }) ? (['service_unavailable'] as const) : []),
    ...(queryError === undefined ? [] : [queryError]),
    ...errors,
  ]);
  return (Object.keys(catalogue) as ErrorCode[]).filter((code) => possible.has(code));
}

/** Whether a fault in what was sent is answered with the list of a 422. */
export function isValidated({ body, query, queryError }: Endpoint): boolean {
  return body !== undefined || (query !== undefined && queryError === undefined);
}

/** Credentials are looked up there, and bodies are stored there; other endpoints declare it themselves. */
function needsDatabase({ credential, body }: Pick<Endpoint, 'credential' | 'body'>): boolean {
  return credential !== 'none' || body !== undefined;
}

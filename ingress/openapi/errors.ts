import { catalogue, type ErrorCode, type ErrorEntry, statusOf } from '../../shared/errors/catalogue.ts';
import {
  errorBody,
  explainedErrorBody,
  type Fault,
  ValidationErrorBody,
} from '../../shared/schemas/errors.ts';
import { BODY_BYTES_MAX } from '../../shared/schemas/limits.ts';
import { UNCOUNTED_BYTES } from '../guards/budgets.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ResponseHeader } from '../http/headers.ts';
import type { Credential } from '../request/context.ts';
import type { Components } from './components.ts';
import { responseHeaders } from './headers.ts';

const EXAMPLE_FAULT: Fault = {
  loc: ['body', 'user_id'],
  msg: 'String should have at most 200 characters',
  type: 'string_too_long',
  ctx: { max_length: 200 },
};

export function errorResponses(endpoint: Endpoint): Record<string, object> {
  const isExplained = endpoint.surface === 'api';
  const byStatus = Object.groupBy(possibleErrors(endpoint), (code) => statusOf(code, endpoint.surface));
  const responses = Object.entries(byStatus).map(([status, codes = []]) => [
    status,
    codeResponse(codes, isExplained),
  ]);
  return {
    ...Object.fromEntries(responses),
    ...(isValidated(endpoint) && { 422: { $ref: '#/components/responses/ValidationError' } }),
    default: { $ref: `#/components/responses/${isExplained ? 'ExplainedDefect' : 'Defect'}` },
  };
}

export function sharedResponses(components: Components): Record<string, object> {
  return {
    ValidationError: {
      description: 'The first error of each invalid field; at most 100 fields.',
      headers: responseHeaders(['X-Request-Id', 'X-Error-Source']),
      content: {
        'application/json': {
          schema: components.refer(ValidationErrorBody),
          example: { detail: [EXAMPLE_FAULT] } satisfies ValidationErrorBody,
        },
      },
    },
    Defect: codeResponse(['internal_error'], false),
    ExplainedDefect: codeResponse(['internal_error'], true),
  };
}

function codeResponse(codes: readonly ErrorCode[], isExplained: boolean): object {
  const examples = codes.map((code) => {
    const { message } = catalogue[code];
    return [code, { value: { detail: isExplained ? { code, message } : { code } } }];
  });
  return {
    description: descriptionOf(codes),
    headers: responseHeaders(headersOf(codes)),
    content: {
      'application/json': {
        schema: (isExplained ? explainedErrorBody : errorBody)(codes),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function descriptionOf(codes: readonly ErrorCode[]): string {
  const sentences = codes.map((code) => `- \`${code}\`: ${catalogue[code].message}`);
  return sentences.join('\n');
}

function headersOf(codes: readonly ErrorCode[]): ResponseHeader[] {
  const entries: ErrorEntry[] = codes.map((code) => catalogue[code]);
  return [
    'X-Request-Id',
    'X-Error-Source',
    ...(entries.some(({ status }) => status === 401) ? (['WWW-Authenticate'] as const) : []),
    ...(entries.some(({ retryAfterS }) => retryAfterS !== undefined) ? (['Retry-After'] as const) : []),
    ...(codes.includes('rate_limited') ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
  ];
}

const CREDENTIAL_ERRORS: Record<Credential, readonly ErrorCode[]> = {
  app: ['invalid_request', 'invalid_app_key'],
  user: ['invalid_request', 'not_authenticated', 'token_expired', 'access_denied'],
  none: [],
};
const BODY_ERRORS: readonly ErrorCode[] = ['invalid_json', 'invalid_content_type', 'body_too_large'];

/**
 * Lists every code that the endpoint may answer with, in the catalogue's order, except those that are the same
 * everywhere: 404 and 405 for unknown routes, the refusals of `checkHead` and `server.ts`, and 500.
 */
function possibleErrors(endpoint: Endpoint): ErrorCode[] {
  const {
    credential,
    login,
    body,
    bodyLimit = BODY_BYTES_MAX,
    queryError,
    unlimited,
    inTurn,
    params,
    errors = [],
  } = endpoint;
  const possible = new Set<ErrorCode>([
    ...CREDENTIAL_ERRORS[credential],
    ...(login === 'fresh' ? (['fresh_login_required'] as const) : []),
    ...(unlimited ? [] : (['rate_limited'] as const)),
    ...(body === undefined ? [] : BODY_ERRORS),
    // A parameter may name nothing, or have another shape.
    ...(Object.keys(params).length > 0 ? (['not_found'] as const) : []),
    // The memory budget may be full, or too many requests of the account may wait.
    ...((body !== undefined && bodyLimit > UNCOUNTED_BYTES) || inTurn ? (['overloaded'] as const) : []),
    ...(needsDatabase({ credential, body }) ? (['service_unavailable'] as const) : []),
    ...(queryError === undefined ? [] : [queryError]),
    ...errors,
  ]);
  return (Object.keys(catalogue) as ErrorCode[]).filter((code) => possible.has(code));
}

/** Checks whether the endpoint answers invalid input with a 422 and a list of errors. */
function isValidated({ body, query, queryError }: Endpoint): boolean {
  return body !== undefined || (query !== undefined && queryError === undefined);
}

/**
 * Reports whether the endpoint looks up a credential or takes a body, and so may need the database. Other endpoints
 * that use the database declare `service_unavailable`.
 */
function needsDatabase({ credential, body }: Pick<Endpoint, 'credential' | 'body'>): boolean {
  return credential !== 'none' || body !== undefined;
}

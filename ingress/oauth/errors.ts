import type { Middleware, Next } from 'koa';
import type { AppError } from '../../shared/errors/app-error.ts';
import { statusOf } from '../../shared/errors/catalogue.ts';
import type { RequestContext, RequestState } from '../request/context.ts';
import { setError, toAppError } from '../request/errors.ts';

/** Statuses of the registered error codes of OAuth that these endpoints use. */
const STATUSES = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
};

/** An error in the words of OAuth (RFC 6749, 5.2). */
export class OauthError extends Error {
  override readonly name = 'OauthError';
  readonly code: keyof typeof STATUSES;

  constructor(code: keyof typeof STATUSES, description: string) {
    super(description);
    this.code = code;
  }
}

const PREFLIGHT_MAX_AGE_S = 600;

/**
 * Answers errors as OAuth does. Pages of any origin may use these endpoints, since they read no cookie, and the tools
 * that log in from a browser run anywhere.
 */
export const oauthMiddleware: Middleware<RequestState> = async (ctx, next) => {
  ctx.set({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After',
  });
  if (ctx.method !== 'OPTIONS') return answerErrors(ctx, next);
  ctx.set({
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Mcp-Protocol-Version, X-Request-Id',
    'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
  });
  ctx.status = 204;
};

async function answerErrors(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (error instanceof OauthError) {
      ctx.status = STATUSES[error.code];
      ctx.state.errorCode = error.code;
      return sendError(ctx, error.code, error.message);
    }
    const known = toAppError(ctx, error);
    setError(ctx, known);
    sendError(ctx, codeOf(known), known.explanation);
  }
}

function sendError(ctx: RequestContext, error: string, description: string): void {
  ctx.type = 'json';
  ctx.body = JSON.stringify({ error, error_description: description });
}

function codeOf({ code }: AppError): string {
  const status = statusOf(code, 'oauth');
  if (status < 500) return 'invalid_request';
  return status === 503 ? 'temporarily_unavailable' : 'server_error';
}

import type { Next } from 'koa';
import type { AppError } from '../../shared/errors/app-error.ts';
import { setError, toAppError } from '../http/errors.ts';
import type { RequestContext } from '../http/request-context.ts';

/** The code of JSON-RPC for a request that cannot be one, and the server's own for the rest. */
const JSON_RPC = { invalid_json: -32700, invalid_request: -32600, not_found: -32001 } as Record<
  string,
  number
>;
const OTHER = -32000;

/** Answers an error with its status, in the form of JSON-RPC. Echoes nothing of the request. */
export async function protocolErrors(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    answerError(ctx, toAppError(ctx, error));
  }
}

function answerError(ctx: RequestContext, error: AppError): void {
  setError(ctx, error);
  if (ctx.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  const { code, explanation } = error;
  ctx.type = 'json';
  ctx.body = JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: { code: JSON_RPC[code] ?? OTHER, message: explanation, data: { code } },
  });
}

import type { Middleware } from 'koa';
import { isLockTimeout, isTransient, isUnavailable } from '../../shared/db/faults.ts';
import { RESOURCE_METADATA_PATH } from '../../shared/domain/resource.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue, type ErrorCode, statusOf } from '../../shared/errors/catalogue.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import type { RequestContext, RequestState, Surface } from './context.ts';

/**
 * Turns errors into JSON responses. Errors of the pages under `/connect` and of `/oauth` are answered before. On `/api`,
 * 401 says where a program finds out how to log in (RFC 9728, 5.1).
 */
export function handleErrors(publicUrl: string): Middleware<RequestState> {
  const challenges: Partial<Record<Surface, string>> = {
    api: `Bearer resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}/api"`,
  };
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof ValidationError) return sendValidationError(ctx, error);
      sendError(ctx, toAppError(ctx, error));
      if (ctx.status === 401) ctx.set('WWW-Authenticate', challenges[ctx.state.surface] ?? 'Bearer');
    }
  };
}

/** Converts an error to an `AppError`, and logs a database fault or a defect. */
export function toAppError(
  { state: { log, signal } }: { state: Pick<RequestState, 'log' | 'signal'> },
  error: unknown,
): AppError {
  if (error instanceof AppError) return error;
  if (isTransient(error)) {
    log.warn({ err: error }, transientFaultOf(error));
    return new AppError('service_unavailable', { cause: error });
  }
  // The client has disconnected.
  const { aborted, reason } = signal;
  if (aborted && error === reason) return new AppError('service_unavailable', { cause: error });
  log.error({ err: error }, 'defect');
  return new AppError('internal_error', { cause: error });
}

function transientFaultOf(error: unknown): string {
  if (isLockTimeout(error)) return 'lock timeout';
  return isUnavailable(error) ? 'database unreachable' : 'transaction conflict';
}

function sendValidationError(ctx: RequestContext, error: ValidationError): void {
  ctx.state.errorCode = 'validation_error';
  ctx.set('X-Error-Source', 'ingress');
  send(ctx, 422, { detail: error.faults });
}

/** Sets an error's status and headers, and its code for the access log, but not the body. */
export function setError(ctx: RequestContext, error: AppError): void {
  ctx.status = statusOf(error.code, ctx.state.surface);
  ctx.state.errorCode = error.code;
  ctx.set('X-Error-Source', error.source);
  if (error.retryAfterS !== undefined)
    ctx.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterS))));
  // Closes the connection, because the rest of the body may take long to arrive.
  if (error.code === 'body_too_large' || error.code === 'request_timeout') ctx.set('Connection', 'close');
}

function sendError(ctx: RequestContext, error: AppError): void {
  setError(ctx, error);
  send(ctx, ctx.status, errorBodyOf(error.code, ctx.state.surface, error.explanation));
}

export function errorBodyOf(
  code: ErrorCode,
  surface: Surface,
  message: string = catalogue[code].message,
): object {
  return { detail: surface === 'api' ? { code, message } : { code } };
}

function send(ctx: RequestContext, status: number, body: object): void {
  ctx.status = status;
  ctx.type = 'json';
  ctx.body = JSON.stringify(body);
}

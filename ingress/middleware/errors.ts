import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Next } from 'koa';
import { isLockTimeout, isUnavailable } from '../../shared/db/faults.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue } from '../../shared/errors/catalogue.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import type { RequestContext } from './request-context.ts';

/** The only place where an error becomes an HTTP response. */
export async function errors(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (error instanceof ValidationError) answerFaults(ctx, error);
    else answerCode(ctx, toAppError(ctx, error));
  }
}

/** What nobody foresaw is the database unreachable, a lock held for too long, or a defect. Only this deserves a log line. */
export function toAppError(ctx: RequestContext, error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isUnavailable(error) || isLockTimeout(error)) {
    ctx.state.log.warn({ err: error }, isLockTimeout(error) ? 'lock time-out' : 'database unreachable');
    return new AppError('service_unavailable', { cause: error });
  }
  ctx.state.log.error({ err: error }, 'defect');
  return new AppError('internal_error', { cause: error });
}

function answerFaults(ctx: RequestContext, error: ValidationError): void {
  ctx.state.errorCode = 'validation_error';
  ctx.set('X-Error-Source', 'ingress');
  send(ctx, 422, { detail: error.faults });
}

/** The status, headers and log of an error, whatever its body. */
export function setError(ctx: RequestContext, error: AppError): void {
  ctx.status = error.status;
  ctx.state.errorCode = error.code;
  ctx.set('X-Error-Source', error.source);
  if (error.retryAfterS !== undefined)
    ctx.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterS))));
}

function answerCode(ctx: RequestContext, error: AppError): void {
  setError(ctx, error);
  if (error.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  send(ctx, error.status, { detail: detailOf(ctx, error) });
  if (error.code === 'body_too_large') linger(ctx);
}

/** `/api` is read by people as well. */
function detailOf(ctx: RequestContext, { code }: AppError): object {
  return ctx.url.startsWith('/api/') ? { code, message: catalogue[code].message } : { code };
}

function send(ctx: RequestContext, status: number, body: object): void {
  ctx.status = status;
  ctx.type = 'json';
  ctx.body = JSON.stringify(body);
}

const LINGER_MS = 1000;

/**
 * Answers in full at once, then reads on for a moment before the connection closes. Closed on a client that
 * still writes, TCP would reset the connection and the client would never read why.
 */
export function linger(ctx: RequestContext): void {
  const text = ctx.body as string;
  ctx.set('Connection', 'close');
  ctx.body = Readable.from(thenDrain(ctx, text));
  ctx.length = Buffer.byteLength(text);
}

async function* thenDrain({ req }: RequestContext, text: string) {
  yield text;
  req.unpipe();
  req.resume();
  if (!req.closed) await once(req, 'close', { signal: AbortSignal.timeout(LINGER_MS) }).catch(() => {});
}

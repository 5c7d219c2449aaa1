import type { IncomingMessage } from 'node:http';
import type { Next } from 'koa';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB } from '../../shared/schemas/limits.ts';
import { pathOf, type RequestContext } from '../request/context.ts';

/** Maximum characters of a request's URL and headers together. */
const HEAD_CHARS_MAX = 16 * KIB;
/** Length at which Node's parser gives up. `server.ts` then answers instead of the application. */
export const PARSED_HEAD_BYTES_MAX = 4 * HEAD_CHARS_MAX;

/**
 * Refuses a URL or headers that are too long, a version other than HTTP/1.0 and 1.1, a repeated `Host` header or,
 * under HTTP/1.1, a missing one (RFC 9112, 3.2), an unknown `Expect`, and a target whose path cannot be parsed.
 */
export async function checkHead(ctx: RequestContext, next: Next): Promise<void> {
  const { url = '', headers, headersDistinct, httpVersion } = ctx.req;
  if (url.length > HEAD_CHARS_MAX) throw new AppError('uri_too_long');
  if (url.length + headerLength(ctx.req) > HEAD_CHARS_MAX) throw new AppError('headers_too_large');
  const { host = [] } = headersDistinct;
  const minHosts = httpVersion === '1.1' ? 1 : 0;
  if (!/^1\.[01]$/.test(httpVersion) || host.length > 1 || host.length < minHosts)
    throw new AppError('invalid_request');
  // HTTP/1.0 does not know the header `Expect`.
  if (httpVersion === '1.1' && !/^(100-continue)?$/i.test(headers.expect ?? ''))
    throw new AppError('expectation_failed');
  if (pathOf(ctx) === undefined) throw new AppError('not_found');
  await next();
}

function headerLength({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, part) => sum + part.length, 0);
}

import { MIMEType } from 'node:util';
import { koaBody } from 'koa-body';
import { AppError } from '../../shared/errors/app-error.ts';
import type { RequestContext } from './request-context.ts';

/** Reads one request's body as JSON: `await readJson(ctx)`. */
type JsonReader = (ctx: RequestContext) => Promise<unknown>;

/**
 * Makes the reader of an endpoint's body: at most `limit` bytes, also after unpacking (413), JSON by its
 * headers (400 invalid_content_type) and by its bytes (400 invalid_json), in that order.
 */
export function jsonReader(limit: number): JsonReader {
  // As text of one byte a character, because koa-body's own JSON turns invalid UTF-8 into U+FFFD.
  const read = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: [JSON_TYPE],
    textLimit: limit,
    encoding: 'latin1',
  });
  return async (ctx) => {
    if (Number(ctx.get('Content-Length')) > limit) throw new AppError('body_too_large');
    const acceptable = isJsonType(ctx.get('Content-Type')) && isKnownEncoding(ctx.get('Content-Encoding'));
    present(ctx, acceptable);
    await read(ctx, async () => {}).catch(refuse);
    if (!acceptable) throw new AppError('invalid_content_type');
    return parse(ctx.request.body);
  };
}

const JSON_TYPE = 'application/json';

function isJsonType(header: string): boolean {
  try {
    const { essence, params } = new MIMEType(header);
    return essence === JSON_TYPE && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

function isKnownEncoding(header: string): boolean {
  return ['', 'identity', 'gzip'].includes(header.toLowerCase());
}

/** koa-body goes by these headers. It shall read any body, so that "too large" is said before "wrong type". */
function present({ req }: RequestContext, acceptable: boolean): void {
  const encoding = req.headers['content-encoding']?.toLowerCase();
  req.headers['content-type'] = JSON_TYPE;
  req.headers['content-encoding'] = acceptable ? encoding : 'identity';
}

/** All that fails while a body is read is the client's: its size, its compression, its connection. */
function refuse(error: { type?: unknown }): never {
  throw new AppError(error.type === 'entity.too.large' ? 'body_too_large' : 'invalid_json');
}

/** The parser's error quotes what it read, so it is dropped. */
function parse(text: unknown): unknown {
  try {
    const bytes = Buffer.from(typeof text === 'string' ? text : '', 'latin1');
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new AppError('invalid_json');
  }
}

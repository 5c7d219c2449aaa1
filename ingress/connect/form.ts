import { koaBody } from 'koa-body';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB } from '../../shared/schemas/limits.ts';
import type { RequestContext } from '../http/request-context.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const FORM_LIMIT = 16 * KIB;

// As text: koa-body's own parser makes objects out of names with dots and brackets.
const read = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: [FORM_TYPE],
  textLimit: FORM_LIMIT,
});

/**
 * The fields of a posted form. Throws `body_too_large`, or `invalid_content_type` for what is no form.
 *
 * No browser packs a form. koa-body would unpack one, and leave the unpacking stream without a listener once it has read
 * enough: an error after that ends the process.
 */
export async function readForm(ctx: RequestContext): Promise<URLSearchParams> {
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) throw new AppError('invalid_content_type');
  if (Number(ctx.get('Content-Length')) > FORM_LIMIT) throw new AppError('body_too_large');
  await read(ctx, async () => {}).catch(refuse);
  const { body } = ctx.request;
  if (ctx.is(FORM_TYPE) === false) throw new AppError('invalid_content_type');
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

/** All that fails while a form is read is the client's. */
function refuse(error: { type?: unknown }): never {
  throw new AppError(error.type === 'entity.too.large' ? 'body_too_large' : 'invalid_content_type');
}

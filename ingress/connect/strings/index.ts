import type { RequestContext } from '../../request/context.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

/** Prefers the languages that the browser asks for, then English. */
export function textsFor(ctx: RequestContext): Texts {
  ctx.vary('Accept-Language');
  return ctx.acceptsLanguages('en', 'de') === 'de' ? de : en;
}

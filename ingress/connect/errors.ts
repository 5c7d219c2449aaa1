import type { Next } from 'koa';
import type { AttemptView } from '../../shared/db/stores/connections/attempts.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { type Html, html } from '../pages/html.ts';
import type { RequestContext } from '../request/context.ts';
import { setError, toAppError } from '../request/errors.ts';
import { seeOther } from './browser.ts';
import { closedPage, messagePage, reloadLink } from './pages.ts';
import type { Texts } from './strings/en.ts';
import { textsFor } from './strings/index.ts';

/** Error of an attempt that has expired or was already decided. */
export class AttemptClosed extends AppError {
  readonly attempt: AttemptView;

  constructor(attempt: AttemptView) {
    super('connection_attempt_expired');
    this.attempt = attempt;
  }
}

/** Error of a program that nobody knows, or that names a redirect URI of another: the person is told, and sent nowhere. */
export class ProgramRefused extends AppError {
  constructor(explanation: string) {
    super('invalid_request', { explanation });
  }
}

/** Error that the program itself is told, at its redirect URI. */
export class SentBack extends AppError {
  readonly location: string;

  constructor(location: string) {
    super('invalid_request');
    this.location = location;
  }
}

export async function renderErrorPages(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const known = toAppError(ctx, error);
    setError(ctx, known);
    if (known instanceof SentBack) return seeOther(ctx, known.location);
    ctx.type = 'html';
    ctx.body = pageOf(ctx, known).text;
  }
}

function pageOf(ctx: RequestContext, error: AppError): Html {
  const t = textsFor(ctx);
  if (error instanceof AttemptClosed) return closedPage(t, error.attempt);
  if (error instanceof ProgramRefused)
    return messagePage(
      t,
      t.refused.title,
      html`<p>${t.refused.text}</p><p class="small quiet">${t.refused.details(error.explanation ?? '')}</p>`,
    );
  const name = MESSAGES[error.code] ?? 'defect';
  const [title, text] = t.errors[name];
  return messagePage(
    t,
    title,
    html`${text && html`<p>${text}</p>`}${STARTED_BY_APP.includes(name) ? undefined : reloadLink(t)}
    <p class="small quiet">${t.requestId(ctx.state.requestId)}</p>`,
  );
}

type Message = keyof Texts['errors'];

/** Errors after which the page itself is of no more use. */
const STARTED_BY_APP: readonly Message[] = ['not_found', 'defect'];

const MESSAGES: Partial<Record<ErrorCode, Message>> = {
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  access_denied: 'access_denied',
  body_too_large: 'unreadable',
  invalid_content_type: 'unreadable',
  rate_limited: 'rate_limited',
  overloaded: 'try_later',
  service_unavailable: 'try_later',
};

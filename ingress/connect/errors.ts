import type { Next } from 'koa';
import type { AttemptView } from '../../shared/db/stores/connections/attempts.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { type Html, html } from '../pages/html.ts';
import type { RequestContext } from '../request/context.ts';
import { setError, toAppError } from '../request/errors.ts';
import { closedPage, messagePage, reloadLink } from './pages.ts';

/** Error of an attempt that has expired or was already decided. */
export class AttemptClosed extends AppError {
  readonly attempt: AttemptView;

  constructor(attempt: AttemptView) {
    super('connection_attempt_expired');
    this.attempt = attempt;
  }
}

export async function renderErrorPages(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const known = toAppError(ctx, error);
    setError(ctx, known);
    ctx.type = 'html';
    ctx.body = pageOf(ctx, known).text;
  }
}

function pageOf(ctx: RequestContext, error: AppError): Html {
  if (error instanceof AttemptClosed) return closedPage(error.attempt);
  const [title, text] = MESSAGES[error.code] ?? DEFECT_MESSAGE;
  return messagePage(title, html`${text}<p class="small quiet">Request id: ${ctx.state.requestId}</p>`);
}

type Message = [title: string, text: Html];

const UNREADABLE_MESSAGE: Message = ['This form could not be read', reloadLink];

const TRY_LATER_MESSAGE: Message = [
  'Forecue is not available at the moment',
  html`<p>Nothing was changed. Try again in a moment.</p>${reloadLink}`,
];

const DEFECT_MESSAGE: Message = [
  'Something went wrong on our side',
  html`<p>It is not your fault. Go back to the app and start again.</p>`,
];

const MESSAGES: Partial<Record<ErrorCode, Message>> = {
  not_found: [
    'There is no such request',
    html`<p>The address may be incomplete. Go back to the app that sent you here and start again.</p>`,
  ],
  method_not_allowed: ['This address takes forms of its own page only', reloadLink],
  access_denied: [
    'This page is out of date',
    html`<p>Somebody signed in or out in another window since, or this browser refuses cookies. Nothing was changed.</p>
    ${reloadLink}`,
  ],
  body_too_large: UNREADABLE_MESSAGE,
  invalid_content_type: UNREADABLE_MESSAGE,
  rate_limited: [
    'Too many requests',
    html`<p>Many requests came from your network within a short time. Wait a little, then try again.</p>${reloadLink}`,
  ],
  overloaded: TRY_LATER_MESSAGE,
  service_unavailable: TRY_LATER_MESSAGE,
};

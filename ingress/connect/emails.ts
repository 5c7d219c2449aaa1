import { EMAIL_CHANGE_PATH } from '../../shared/domain/account.ts';
import { isToken } from '../../shared/security/keys.ts';
import type { EmailChanges } from '../accounts/email-changes.ts';
import type { PageContext } from '../http/endpoint.ts';
import { type Html, html } from '../pages/html.ts';
import { FormTokens, readForm, seeOther, sendPage, TokenCookie } from './browser.ts';
import type { ConsentParts } from './consent.ts';
import { csrfField, type FieldError, formAlert } from './fields.ts';
import { layout, messagePage } from './pages.ts';
import { orRefusal, setRefusal } from './sign-in.ts';
import type { Texts } from './strings/en.ts';
import { textsFor } from './strings/index.ts';

interface EmailParts extends Pick<ConsentParts, 'signingKeys' | 'publicUrl'> {
  emailChanges: EmailChanges;
}

/** Subject of the form's CSRF token. */
const FORM = 'new e-mail';
const GONE_STATUS = 410;

/**
 * The page to which the link in a mail leads. The token moves into a cookie at once, and only the posted form uses it
 * up, as that of a new password does.
 */
export class EmailPages {
  readonly #parts: EmailParts;
  readonly #cookie: TokenCookie;
  readonly #forms: FormTokens;

  constructor(parts: EmailParts) {
    this.#parts = parts;
    this.#cookie = new TokenCookie(parts.publicUrl, { name: 'forecue-email', path: EMAIL_CHANGE_PATH });
    this.#forms = new FormTokens(parts);
  }

  async show(ctx: PageContext): Promise<void> {
    const given = new URLSearchParams(ctx.querystring).get('token');
    if (given !== null) {
      if (!isToken(given)) return this.#sendEnded(ctx);
      this.#cookie.write(ctx, given);
      // Relative, so that it works under a path prefix.
      return seeOther(ctx, EMAIL_CHANGE_PATH.slice(EMAIL_CHANGE_PATH.lastIndexOf('/') + 1));
    }
    const token = this.#cookie.read(ctx);
    const email = token && (await this.#parts.emailChanges.addressOf(token));
    if (!token || !email) return this.#sendEnded(ctx);
    sendPage(ctx, confirmPage({ t: textsFor(ctx), csrf: this.#forms.issue(token, FORM), email }));
  }

  async confirm(ctx: PageContext): Promise<void> {
    const form = await readForm(ctx);
    const token = this.#forms.check(ctx, form, this.#cookie.read(ctx), FORM);
    const email = await this.#parts.emailChanges.addressOf(token);
    if (email === undefined) return this.#sendEnded(ctx);
    const result = await orRefusal(() => this.#parts.emailChanges.confirm(token));
    if (result === undefined) return this.#sendEnded(ctx);
    if ('faults' in result) {
      setRefusal(ctx, result);
      const csrf = this.#forms.issue(token, FORM);
      // The form has no fields to which the faults could belong.
      const faults = result.faults.map(({ text }) => ({ text }));
      return sendPage(ctx, confirmPage({ t: textsFor(ctx), csrf, email, faults }));
    }
    ctx.state.accountId = result.accountId;
    this.#cookie.remove(ctx);
    sendPage(ctx, confirmedPage(textsFor(ctx), result.email));
  }

  #sendEnded(ctx: PageContext): void {
    this.#cookie.remove(ctx);
    ctx.status = GONE_STATUS;
    sendPage(ctx, endedPage(textsFor(ctx)));
  }
}

interface ConfirmPage {
  t: Texts;
  csrf: string;
  email: string;
  faults?: readonly FieldError[];
}

function confirmPage(page: ConfirmPage): Html {
  const { t, email, faults = [] } = page;
  const { title, lead, button } = t.newEmail;
  return layout(
    t,
    title,
    html`
    <h1>${title}</h1>
    <p class="quiet">${lead(html`<strong><bdi>${email}</bdi></strong>`)}</p>
    ${formAlert(t, faults)}
    <form method="post">
      ${csrfField(page)}
      <button class="primary wide">${button}</button>
    </form>`,
  );
}

function confirmedPage(t: Texts, email: string): Html {
  const { confirmed, signIn, close } = t.newEmail;
  const shown = html`<strong><bdi>${email}</bdi></strong>`;
  return messagePage(t, confirmed, html`<p>${signIn(shown)}</p><p>${close}</p>`);
}

function endedPage(t: Texts): Html {
  const { ended, endedWhy, askAgain } = t.newEmail;
  return messagePage(t, ended, html`<p>${endedWhy}</p><p>${askAgain}</p>`);
}

import type { SigningKeys } from '../../shared/config/values.ts';
import { PASSWORD_RESET_PATH } from '../../shared/domain/account.ts';
import { SignupRequest, WaitlistRequest } from '../../shared/schemas/accounts.ts';
import { compile, ValidationError } from '../../shared/schemas/validator.ts';
import { isToken } from '../../shared/security/keys.ts';
import type { ResetLinks } from '../accounts/reset-links.ts';
import type { AccountService } from '../accounts/service.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { Html } from '../pages/html.ts';
import { allowForms, FormTokens, readForm, seeOther, TokenCookie } from './browser.ts';
import {
  askOperatorPage,
  changedPage,
  forgottenPage,
  linkEndedPage,
  mailedPage,
  newPasswordPage,
} from './password-pages.ts';
import { orRefusal, setRefusal } from './sign-in.ts';

interface PasswordParts {
  accounts: AccountService;
  resetLinks: ResetLinks;
  signingKeys: SigningKeys;
  publicUrl: string;
  hasConsole: boolean;
}

const checkEmail = compile(WaitlistRequest);
const checkSignup = compile(SignupRequest);

/** Subjects of the forms' CSRF tokens. On the consent page, the attempt is the subject. */
const FORGOTTEN_PASSWORD_FORM = 'forgotten password';
const NEW_PASSWORD_FORM = 'new password';
const GONE_STATUS = 410;

/**
 * The pages for a person who forgot their password: `showForgotten` and `ask` mail a link, which leads to `showNew` and
 * `save`. The link's token moves from the address into a cookie at once, so that no history, screenshot or later page
 * shows it. Opening the link does not use up the token, because mail filters follow links; only a new password does.
 */
export class PasswordPages {
  readonly #parts: PasswordParts;
  readonly #browserCookie: TokenCookie;
  readonly #linkCookie: TokenCookie;
  readonly #forms: FormTokens;

  constructor(parts: PasswordParts) {
    this.#parts = parts;
    this.#browserCookie = new TokenCookie(parts.publicUrl);
    this.#linkCookie = new TokenCookie(parts.publicUrl, { name: 'forecue-reset', path: PASSWORD_RESET_PATH });
    this.#forms = new FormTokens(parts);
  }

  async showForgotten(ctx: PageContext): Promise<void> {
    if (!this.#parts.resetLinks.areMailed) return send(ctx, askOperatorPage());
    const browserToken = this.#browserCookie.read(ctx) ?? this.#browserCookie.write(ctx);
    send(ctx, forgottenPage({ csrf: this.#forms.issue(browserToken, FORGOTTEN_PASSWORD_FORM) }));
  }

  async ask(ctx: PageContext): Promise<void> {
    const { resetLinks } = this.#parts;
    if (!resetLinks.areMailed) return send(ctx, askOperatorPage());
    const form = await readForm(ctx);
    const browserToken = this.#forms.check(ctx, form, this.#browserCookie.read(ctx), FORGOTTEN_PASSWORD_FORM);
    const email = form.get('email') ?? '';
    const refusal = await orRefusal(async () => {
      const checked = checkEmail({ email });
      if (!checked.ok) throw new ValidationError(checked.faults);
      await resetLinks.ask(checked.value.email, ctx.state.address);
    });
    if (refusal === undefined) return send(ctx, mailedPage(email));
    setRefusal(ctx, refusal);
    const csrf = this.#forms.issue(browserToken, FORGOTTEN_PASSWORD_FORM);
    send(ctx, forgottenPage({ csrf, email, faults: refusal.faults }));
  }

  async showNew(ctx: PageContext): Promise<void> {
    const given = new URLSearchParams(ctx.querystring).get('token');
    if (given !== null) {
      if (!isToken(given)) return this.#sendLinkEnded(ctx);
      this.#linkCookie.write(ctx, given);
      // Relative, so that a prefix in front of our paths does no harm.
      return seeOther(ctx, PASSWORD_RESET_PATH.slice(PASSWORD_RESET_PATH.lastIndexOf('/') + 1));
    }
    const token = this.#linkCookie.read(ctx);
    const account = token && (await this.#parts.accounts.ownerOfReset(token));
    if (!token || !account) return this.#sendLinkEnded(ctx);
    send(ctx, newPasswordPage({ csrf: this.#forms.issue(token, NEW_PASSWORD_FORM), email: account.email }));
  }

  async save(ctx: PageContext): Promise<void> {
    const { accounts, hasConsole } = this.#parts;
    const form = await readForm(ctx);
    const token = this.#forms.check(ctx, form, this.#linkCookie.read(ctx), NEW_PASSWORD_FORM);
    const account = await accounts.ownerOfReset(token);
    if (account === undefined) return this.#sendLinkEnded(ctx);
    ctx.state.accountId = account.id;
    const { email } = account;
    const { address, signal } = ctx.state;
    const result = await orRefusal(() => {
      const checked = checkSignup({ email, password: form.get('password') ?? '' });
      if (!checked.ok) throw new ValidationError(checked.faults);
      const { password } = checked.value;
      const revokeKeys = form.has('revoke_keys');
      return accounts.resetPassword(account, { password, revokeKeys, address }, signal);
    });
    if (result === undefined) return this.#sendLinkEnded(ctx);
    if ('faults' in result) {
      setRefusal(ctx, result);
      return send(
        ctx,
        newPasswordPage({ csrf: this.#forms.issue(token, NEW_PASSWORD_FORM), email, faults: result.faults }),
      );
    }
    this.#linkCookie.remove(ctx);
    send(ctx, changedPage(hasConsole ? '../console/' : undefined));
  }

  #sendLinkEnded(ctx: PageContext): void {
    this.#linkCookie.remove(ctx);
    ctx.status = GONE_STATUS;
    send(ctx, linkEndedPage());
  }
}

function send(ctx: PageContext, page: Html): void {
  allowForms(ctx);
  ctx.type = 'html';
  ctx.body = page.text;
}

import { PASSWORD_RESET_PATH } from '../../shared/domain/account.ts';
import { SignupRequest, WaitlistRequest } from '../../shared/schemas/accounts.ts';
import { compile, ValidationError } from '../../shared/schemas/validator.ts';
import { isToken } from '../../shared/security/keys.ts';
import type { ResetLinks } from '../accounts/reset-links.ts';
import type { PageContext } from '../http/endpoint.ts';
import { FormTokens, readForm, seeOther, sendPage, TokenCookie } from './browser.ts';
import type { ConsentParts } from './consent.ts';
import {
  askOperatorPage,
  changedPage,
  forgottenPage,
  linkEndedPage,
  mailedPage,
  newPasswordPage,
} from './password-pages.ts';
import { orRefusal, setRefusal } from './sign-in.ts';
import { textsFor } from './strings/index.ts';

interface PasswordParts extends Pick<ConsentParts, 'accounts' | 'signingKeys' | 'publicUrl' | 'console'> {
  resetLinks: ResetLinks;
}

const checkEmailForm = compile(WaitlistRequest);
const checkSignup = compile(SignupRequest);

/** Subjects of the forms' CSRF tokens. */
const FORGOTTEN_PASSWORD_FORM = 'forgotten password';
const NEW_PASSWORD_FORM = 'new password';
const GONE_STATUS = 410;

/**
 * The pages that mail a password reset link (`showForgotten`, `ask`), and the pages to which it leads (`showNew`,
 * `save`). The link's token moves into a cookie at once, so that the browser's history does not keep it. Opening the
 * link does not use up the token, because mail filters follow links.
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
    if (!this.#parts.resetLinks.areMailed) return sendPage(ctx, askOperatorPage(textsFor(ctx)));
    const browserToken = this.#browserCookie.read(ctx) ?? this.#browserCookie.write(ctx);
    sendPage(
      ctx,
      forgottenPage({ t: textsFor(ctx), csrf: this.#forms.issue(browserToken, FORGOTTEN_PASSWORD_FORM) }),
    );
  }

  async ask(ctx: PageContext): Promise<void> {
    const { resetLinks } = this.#parts;
    if (!resetLinks.areMailed) return sendPage(ctx, askOperatorPage(textsFor(ctx)));
    const form = await readForm(ctx);
    const browserToken = this.#forms.check(ctx, form, this.#browserCookie.read(ctx), FORGOTTEN_PASSWORD_FORM);
    const email = form.get('email') ?? '';
    const refusal = await orRefusal(async () => {
      const checked = checkEmailForm({ email });
      if (!checked.ok) throw new ValidationError(checked.faults);
      await resetLinks.ask(checked.value.email, ctx.state.address);
    });
    if (refusal === undefined) return sendPage(ctx, mailedPage(textsFor(ctx), email));
    setRefusal(ctx, refusal);
    const csrf = this.#forms.issue(browserToken, FORGOTTEN_PASSWORD_FORM);
    sendPage(ctx, forgottenPage({ t: textsFor(ctx), csrf, email, faults: refusal.faults }));
  }

  async showNew(ctx: PageContext): Promise<void> {
    const given = new URLSearchParams(ctx.querystring).get('token');
    if (given !== null) {
      if (!isToken(given)) return this.#sendLinkEnded(ctx);
      this.#linkCookie.write(ctx, given);
      // Relative, so that it works under a path prefix.
      return seeOther(ctx, PASSWORD_RESET_PATH.slice(PASSWORD_RESET_PATH.lastIndexOf('/') + 1));
    }
    const token = this.#linkCookie.read(ctx);
    const account = token && (await this.#parts.accounts.ownerOfReset(token));
    if (!token || !account) return this.#sendLinkEnded(ctx);
    sendPage(
      ctx,
      newPasswordPage({
        t: textsFor(ctx),
        csrf: this.#forms.issue(token, NEW_PASSWORD_FORM),
        email: account.email,
      }),
    );
  }

  async save(ctx: PageContext): Promise<void> {
    const { accounts, console: hasConsole } = this.#parts;
    const form = await readForm(ctx);
    const token = this.#forms.check(ctx, form, this.#linkCookie.read(ctx), NEW_PASSWORD_FORM);
    const account = await accounts.ownerOfReset(token);
    if (account === undefined) return this.#sendLinkEnded(ctx);
    ctx.state.accountId = account.accountId;
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
      return sendPage(
        ctx,
        newPasswordPage({
          t: textsFor(ctx),
          csrf: this.#forms.issue(token, NEW_PASSWORD_FORM),
          email,
          faults: result.faults,
        }),
      );
    }
    this.#linkCookie.remove(ctx);
    sendPage(ctx, changedPage(textsFor(ctx), hasConsole ? '../console/' : undefined));
  }

  #sendLinkEnded(ctx: PageContext): void {
    this.#linkCookie.remove(ctx);
    ctx.status = GONE_STATUS;
    sendPage(ctx, linkEndedPage(textsFor(ctx)));
  }
}

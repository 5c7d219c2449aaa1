import type { EntityManager } from '@mikro-orm/postgresql';
import type { Middleware } from 'koa';
import type { SigningKeys } from '../../shared/config/values.ts';
import {
  type AttemptView,
  approveAttempt,
  denyAttempt,
  findAttempt,
} from '../../shared/db/stores/connections/attempts.ts';
import { endWebSession, findWebSession, startWebSession } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { AccountService } from '../accounts/service.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { RequestContext, RequestState } from '../http/request-context.ts';
import type { CountRequest } from '../limits/request-limits.ts';
import type { Html } from '../pages/html.ts';
import {
  allowForms,
  BrowserCookie,
  CsrfTokens,
  isFromOwnPage,
  readForm,
  seeOther,
  setPageHeaders,
  withParameters,
} from './browser.ts';
import { AttemptClosed, pageErrors } from './errors.ts';
import { type CredentialsPageData, callbackPage, consentPage, signInPage, signUpPage } from './pages.ts';
import { setRefusal, signIn, signUp } from './sign-in.ts';

export interface ConsentParts {
  em: () => EntityManager;
  accounts: AccountService;
  countRequest: CountRequest;
  signingKeys: SigningKeys;
  /** The issuer, and the base of every URL of ours. */
  publicUrl: string;
  inviteOnly: boolean;
  production: boolean;
  /** True if there is a console, where people revoke connections. */
  hasConsole: boolean;
}

/** Every answer below `/connect` is a page or a redirect, refusals included. */
export const consentShell: Middleware<RequestState> = (ctx, next) => {
  setPageHeaders(ctx);
  return pageErrors(ctx, next);
};

/**
 * The pages on which a person signs in and allows or denies an app the use of their memory: `show` shows where things
 * stand, `act` does what the pressed button says (`do`).
 */
export class ConsentPages {
  readonly #parts: ConsentParts;
  readonly #cookie: BrowserCookie;
  readonly #csrf: CsrfTokens;
  readonly #origin: string;

  constructor(parts: ConsentParts) {
    this.#parts = parts;
    this.#cookie = new BrowserCookie(parts.publicUrl);
    this.#csrf = new CsrfTokens(parts.signingKeys);
    this.#origin = new URL(parts.publicUrl).origin;
  }

  async show(ctx: PageContext): Promise<void> {
    await this.#parts.countRequest(ctx);
    const attempt = await this.#openAttempt(ctx);
    const browser = this.#cookie.read(ctx) ?? this.#cookie.write(ctx);
    const page = { attempt, csrf: this.#csrf.issue(browser, attempt.id) };
    const person = await findWebSession(this.#parts.em(), browser);
    if (person !== undefined)
      return send(ctx, attempt, consentPage({ ...page, email: person.email, revokeAt: this.#revokeAt() }));
    send(ctx, attempt, ctx.query['view'] === 'sign-up' ? this.#signUpPage(page) : signInPage(page));
  }

  /** Stands in for an app's redirect URI. Throws `not_found` in production, where it must not be one. */
  async showCallback(ctx: PageContext): Promise<void> {
    const { countRequest, publicUrl, production } = this.#parts;
    await countRequest(ctx);
    if (production) throw new AppError('not_found');
    const { searchParams } = ctx.URL;
    ctx.type = 'html';
    ctx.body = callbackPage({ get: (name) => searchParams.get(name) ?? '', publicUrl }).text;
  }

  async act(ctx: PageContext): Promise<void> {
    await this.#parts.countRequest(ctx);
    const form = await readForm(ctx);
    const browser = this.#checkOrigin(ctx, form);
    const attempt = await this.#openAttempt(ctx);
    switch (form.get('do')) {
      case 'sign-in':
        return this.#enter(ctx, { attempt, browser, form, by: signIn, again: signInPage });
      case 'sign-up':
        return this.#enter(ctx, {
          attempt,
          browser,
          form,
          by: signUp,
          again: (page) => this.#signUpPage(page),
        });
      case 'switch':
        await endWebSession(this.#parts.em(), browser);
        this.#cookie.write(ctx);
        break;
      case 'approve':
        return this.#approve(ctx, attempt, browser);
      case 'deny':
        return this.#deny(ctx, attempt);
    }
    backToPage(ctx, attempt);
  }

  /** The attempt that the path names. Throws 404, or 410 when there is nothing left to decide. */
  async #openAttempt(ctx: PageContext): Promise<AttemptView> {
    const id = ctx.params['request_id'] ?? '';
    const attempt = UUID.test(id) ? await findAttempt(this.#parts.em(), id) : undefined;
    if (attempt === undefined) throw new AppError('not_found');
    ctx.state.appId = attempt.appId;
    if (attempt.standing !== 'open') throw new AttemptClosed(attempt);
    return attempt;
  }

  /** The browser's token, if the form is one of ours that this browser got for this attempt. */
  #checkOrigin(ctx: PageContext, form: URLSearchParams): string {
    const browser = this.#cookie.read(ctx);
    const isOurs =
      browser !== undefined &&
      isFromOwnPage(ctx, this.#origin) &&
      this.#csrf.isGood(form.get('csrf') ?? '', browser, ctx.params['request_id'] ?? '');
    if (!isOurs) throw new AppError('access_denied');
    return browser;
  }

  /** Relative, as all links here. */
  #revokeAt(): string | undefined {
    return this.#parts.hasConsole ? '../console/#/connections' : undefined;
  }

  #signUpPage(page: CredentialsPageData): Html {
    return signUpPage({ ...page, inviteOnly: this.#parts.inviteOnly });
  }

  async #enter(ctx: PageContext, { attempt, browser, form, by, again }: Entry): Promise<void> {
    const { em, accounts } = this.#parts;
    const entered = await by(accounts, form, ctx.state);
    if ('faults' in entered) {
      setRefusal(ctx, entered);
      const csrf = this.#csrf.issue(browser, attempt.id);
      const email = form.get('email') ?? '';
      return send(ctx, attempt, again({ attempt, csrf, email, faults: entered.faults }));
    }
    ctx.state.accountId = entered.id;
    await endWebSession(em(), browser);
    this.#cookie.write(ctx, await startWebSession(em(), entered));
    backToPage(ctx, attempt);
  }

  async #approve(ctx: PageContext, attempt: AttemptView, browser: string): Promise<void> {
    const person = await findWebSession(this.#parts.em(), browser);
    if (person === undefined) return backToPage(ctx, attempt);
    ctx.state.accountId = person.accountId;
    const code = await approveAttempt(this.#parts.em(), attempt.id, person.accountId);
    if (code === undefined) return this.#lookAgain(ctx);
    this.#backToApp(ctx, attempt, { code });
  }

  async #deny(ctx: PageContext, attempt: AttemptView): Promise<void> {
    if (!(await denyAttempt(this.#parts.em(), attempt.id))) return this.#lookAgain(ctx);
    this.#backToApp(ctx, attempt, { error: 'access_denied' });
  }

  /** Shown when somebody else decided in this very moment, or the account is gone. */
  async #lookAgain(ctx: PageContext): Promise<void> {
    backToPage(ctx, await this.#openAttempt(ctx));
  }

  /** `iss` lets the app tell our answer from another server's (RFC 9207). */
  #backToApp(ctx: PageContext, { redirectUri, state }: AttemptView, outcome: Record<string, string>): void {
    seeOther(ctx, withParameters(redirectUri, { ...outcome, state, iss: this.#parts.publicUrl }));
  }
}

/** One try to sign in or up. */
interface Entry {
  attempt: AttemptView;
  browser: string;
  form: URLSearchParams;
  by: typeof signIn;
  again: (page: CredentialsPageData) => Html;
}

function send(ctx: RequestContext, { redirectUri }: AttemptView, page: Html): void {
  allowForms(ctx, redirectUri);
  ctx.type = 'html';
  ctx.body = page.text;
}

/** To what there is to see now. Relative, so that a prefix in front of our paths does no harm. */
function backToPage(ctx: RequestContext, { id }: AttemptView): void {
  seeOther(ctx, id);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Middleware } from 'koa';
import type { SigningKeys } from '../../shared/config/values.ts';
import {
  type AttemptView,
  approveAttempt,
  type Consent,
  denyAttempt,
  findAttempt,
} from '../../shared/db/stores/connections/attempts.ts';
import { endWebSession, issueToken, ownerOfToken } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { CONSENT_MEMORY } from '../../shared/schemas/connections.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { AccountService } from '../accounts/service.ts';
import { logInParty, type TakeTurn } from '../guards/account-turns.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { RequestContext, RequestState } from '../request/context.ts';
import {
  FormTokens,
  readForm,
  seeOther,
  sendPage,
  setPageHeaders,
  TokenCookie,
  withParameters,
} from './browser.ts';
import { AttemptClosed, renderErrorPages } from './errors.ts';
import { CONSENT_DAYS, callbackPage, consentPage, signInPage, signUpPage } from './pages.ts';
import { setRefusal, signIn, signUp } from './sign-in.ts';

export interface ConsentParts {
  em: () => EntityManager;
  accounts: AccountService;
  takeTurn: TakeTurn;
  signingKeys: SigningKeys;
  /** Base of all our URLs, and the value of the parameter `iss`. */
  publicUrl: string;
  inviteOnly: boolean;
  production: boolean;
  console: boolean;
}

/** Wraps the routes of `/connect`, and shows their errors as pages. */
export const connectPageMiddleware: Middleware<RequestState> = (ctx, next) => {
  setPageHeaders(ctx);
  return renderErrorPages(ctx, next);
};

/**
 * The pages on which a person signs in, and lets an app use their memory or refuses. `show` renders the current step.
 * `act` handles a submitted form; its field `do` names the button.
 */
export class ConsentPages {
  readonly #parts: ConsentParts;
  readonly #cookie: TokenCookie;
  readonly #forms: FormTokens;

  constructor(parts: ConsentParts) {
    this.#parts = parts;
    this.#cookie = new TokenCookie(parts.publicUrl);
    this.#forms = new FormTokens(parts);
  }

  async show(ctx: PageContext): Promise<void> {
    const attempt = await this.#openAttempt(ctx);
    const browserToken = this.#cookie.read(ctx) ?? this.#cookie.write(ctx);
    const page = { attempt, csrf: this.#forms.issue(browserToken, attempt.id) };
    const person = await ownerOfToken(this.#parts.em(), 'web_sessions', browserToken);
    if (person === undefined) {
      const { render } = ctx.query['view'] === 'sign-up' ? VIEWS['sign-up'] : VIEWS['sign-in'];
      return sendPage(ctx, render({ ...page, inviteOnly: this.#parts.inviteOnly }), attempt.redirectUri);
    }
    const revokeUrl = this.#parts.console ? '../console/#/connections' : undefined;
    sendPage(ctx, consentPage({ ...page, email: person.email, revokeUrl }), attempt.redirectUri);
  }

  /** Stands in for an app's redirect URI. Throws `not_found` in production, where no app may use it. */
  async showCallback(ctx: PageContext): Promise<void> {
    const { publicUrl, production } = this.#parts;
    if (production) throw new AppError('not_found');
    // Avoids `ctx.URL`, which has no parameters when the `Host` header is malformed.
    const parameters = new URLSearchParams(ctx.querystring);
    ctx.type = 'html';
    ctx.body = callbackPage({ get: (name) => parameters.get(name) ?? '', publicUrl }).text;
  }

  async act(ctx: PageContext): Promise<void> {
    const form = await readForm(ctx);
    const browserToken = this.#forms.check(ctx, form, this.#cookie.read(ctx), ctx.params['request_id'] ?? '');
    const attempt = await this.#openAttempt(ctx);
    const action = form.get('do');
    switch (action) {
      case 'sign-in':
      case 'sign-up':
        return this.#enter(ctx, { attempt, browserToken, form, view: VIEWS[action] });
      case 'switch':
        await endWebSession(this.#parts.em(), browserToken);
        this.#cookie.write(ctx);
        break;
      case 'approve':
        return this.#approve(ctx, attempt, browserToken, form);
      case 'deny':
        return this.#deny(ctx, attempt);
    }
    redirectToPage(ctx, attempt);
  }

  /** Finds the attempt that the path names. Throws `not_found`, or `AttemptClosed` when nothing is left to decide. */
  async #openAttempt(ctx: PageContext): Promise<AttemptView> {
    const id = ctx.params['request_id'] ?? '';
    const attempt = UUID.test(id) ? await findAttempt(this.#parts.em(), id) : undefined;
    if (attempt === undefined) throw new AppError('not_found');
    ctx.state.appId = attempt.appId;
    if (attempt.standing !== 'open') throw new AttemptClosed(attempt);
    return attempt;
  }

  async #enter(ctx: PageContext, { attempt, browserToken, form, view }: SubmittedSignIn): Promise<void> {
    const { em, accounts, inviteOnly } = this.#parts;
    const signInResult = await view.enter(accounts, form, ctx.state);
    if ('faults' in signInResult) {
      setRefusal(ctx, signInResult);
      const csrf = this.#forms.issue(browserToken, attempt.id);
      const email = form.get('email') ?? '';
      const page = view.render({ attempt, csrf, email, faults: signInResult.faults, inviteOnly });
      return sendPage(ctx, page, attempt.redirectUri);
    }
    ctx.state.accountId = signInResult.id;
    await endWebSession(em(), browserToken);
    const session = await this.#inTurn(ctx, signInResult.id, () =>
      issueToken(em(), 'web_sessions', signInResult),
    );
    this.#cookie.write(ctx, session?.token);
    redirectToPage(ctx, attempt);
  }

  async #approve(
    ctx: PageContext,
    attempt: AttemptView,
    browserToken: string,
    form: URLSearchParams,
  ): Promise<void> {
    const person = await ownerOfToken(this.#parts.em(), 'web_sessions', browserToken);
    const consent = readConsent(form);
    if (person === undefined || consent === undefined) return redirectToPage(ctx, attempt);
    const { accountId } = person;
    ctx.state.accountId = accountId;
    const code = await this.#inTurn(ctx, accountId, () =>
      approveAttempt(this.#parts.em(), attempt.id, accountId, consent),
    );
    if (code === undefined) return this.#showCurrentStep(ctx);
    this.#redirectToApp(ctx, attempt, { code });
  }

  async #deny(ctx: PageContext, attempt: AttemptView): Promise<void> {
    if (!(await denyAttempt(this.#parts.em(), attempt.id))) return this.#showCurrentStep(ctx);
    this.#redirectToApp(ctx, attempt, { error: 'access_denied' });
  }

  /** Answers a decision that was not stored, because it came too late or the account is gone or disabled. */
  async #showCurrentStep(ctx: PageContext): Promise<void> {
    redirectToPage(ctx, await this.#openAttempt(ctx));
  }

  /** Runs work that locks the account's row, one piece at a time for each account. */
  #inTurn<T>({ state }: PageContext, accountId: string, work: () => Promise<T>): Promise<T> {
    return this.#parts.takeTurn({ party: logInParty(accountId), gone: state.signal }, work);
  }

  /** Adds `iss`, which lets the app distinguish our answer from another server's (RFC 9207). */
  #redirectToApp(
    ctx: PageContext,
    { redirectUri, state }: AttemptView,
    outcome: Record<string, string>,
  ): void {
    seeOther(ctx, withParameters(redirectUri, { ...outcome, state, iss: this.#parts.publicUrl }));
  }
}

/** `enter` signs the person in or up, `render` shows the form, also after a refusal. */
const VIEWS = {
  'sign-in': { enter: signIn, render: signInPage },
  'sign-up': { enter: signUp, render: signUpPage },
};

interface SubmittedSignIn {
  attempt: AttemptView;
  browserToken: string;
  form: URLSearchParams;
  view: (typeof VIEWS)[keyof typeof VIEWS];
}

/** Returns undefined for values that the page does not offer. Without fields, nothing is narrowed. */
function readConsent(form: URLSearchParams): Consent | undefined {
  const memory = CONSENT_MEMORY.find((one) => one === (form.get('memory') ?? 'all'));
  const days = CONSENT_DAYS.find((one) => String(one ?? '') === (form.get('days') ?? ''));
  return memory === undefined || days === undefined ? undefined : { memory, days };
}

/** Redirects to the current step: relative, so that it works under a path prefix. */
function redirectToPage(ctx: RequestContext, { id }: AttemptView): void {
  seeOther(ctx, id);
}

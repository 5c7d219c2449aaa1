import type { EntityManager } from '@mikro-orm/postgresql';
import type { Middleware } from 'koa';
import type { SigningKeys } from '../../shared/config/values.ts';
import { endWebSession, issueToken, ownerOfToken } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { AccountService } from '../accounts/service.ts';
import { logInParty, type TakeTurn } from '../guards/account-turns.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { Html } from '../pages/html.ts';
import type { RequestState } from '../request/context.ts';
import {
  FormTokens,
  readForm,
  seeOther,
  sendPage,
  setPageHeaders,
  TokenCookie,
  withParameters,
} from './browser.ts';
import { renderErrorPages } from './errors.ts';
import { type Asker, callbackPage, type QuestionPageData, signInPage, signUpPage } from './pages.ts';
import { setRefusal, signIn, signUp } from './sign-in.ts';
import { textsFor } from './strings/index.ts';

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

/** What a person is asked: whether an app may use their memory, or a program their account. */
export interface Question {
  asker: Asker;
  /** Address of the page, relative to `/connect/`. */
  page: string;
  /** What that address has before `view`. */
  query: string;
  render(page: QuestionPageData): Html;
  /** Returns the code of the answer; undefined for fields that the page does not offer, or if it comes too late. */
  allow(form: URLSearchParams, accountId: string): Promise<string | undefined>;
  /** Returns false if the refusal comes too late. */
  deny(): Promise<boolean>;
  /** Parameters that every answer has. */
  answer: Record<string, string>;
}

/** Where questions come from. */
export interface Questions {
  /** What the forms' CSRF tokens are bound to. */
  subjectOf(ctx: PageContext): string;
  /** Throws the errors of a question that cannot be asked. */
  open(ctx: PageContext): Promise<Question>;
}

/** Wraps the routes of `/connect`, and shows their errors as pages. */
export const connectPageMiddleware: Middleware<RequestState> = (ctx, next) => {
  setPageHeaders(ctx);
  return renderErrorPages(ctx, next);
};

/**
 * The pages on which a person signs in, and answers a question. `show` renders the current step. `act` handles a
 * submitted form; its field `do` names the button.
 */
export class ConsentPages {
  readonly #parts: ConsentParts;
  readonly #questions: Questions;
  readonly #cookie: TokenCookie;
  readonly #forms: FormTokens;

  constructor(parts: ConsentParts, questions: Questions) {
    this.#parts = parts;
    this.#questions = questions;
    this.#cookie = new TokenCookie(parts.publicUrl);
    this.#forms = new FormTokens(parts);
  }

  async show(ctx: PageContext): Promise<void> {
    const question = await this.#questions.open(ctx);
    const browserToken = this.#cookie.read(ctx) ?? this.#cookie.write(ctx);
    const page = this.#pageOf(ctx, question, browserToken);
    const person = await ownerOfToken(this.#parts.em(), 'web_sessions', browserToken);
    const { redirectUri } = question.asker;
    if (person === undefined) {
      const { render } = ctx.query['view'] === 'sign-up' ? VIEWS['sign-up'] : VIEWS['sign-in'];
      return sendPage(ctx, render({ ...page, inviteOnly: this.#parts.inviteOnly }), redirectUri);
    }
    const revokeUrl = this.#parts.console ? '../console/#/connections' : undefined;
    sendPage(ctx, question.render({ ...page, email: person.email, revokeUrl }), redirectUri);
  }

  async act(ctx: PageContext): Promise<void> {
    const form = await readForm(ctx);
    const browserToken = this.#forms.check(ctx, form, this.#cookie.read(ctx), this.#questions.subjectOf(ctx));
    const question = await this.#questions.open(ctx);
    const action = form.get('do');
    switch (action) {
      case 'sign-in':
      case 'sign-up':
        return this.#enter(ctx, { question, browserToken, form, view: VIEWS[action] });
      case 'switch':
        await endWebSession(this.#parts.em(), browserToken);
        this.#cookie.write(ctx);
        break;
      case 'approve':
        return this.#approve(ctx, question, browserToken, form);
      case 'deny':
        return this.#deny(ctx, question);
    }
    seeOther(ctx, question.page);
  }

  #pageOf(ctx: PageContext, { asker, query }: Question, browserToken: string) {
    return {
      t: textsFor(ctx),
      attempt: asker,
      query,
      csrf: this.#forms.issue(browserToken, this.#questions.subjectOf(ctx)),
    };
  }

  async #enter(ctx: PageContext, { question, browserToken, form, view }: SubmittedSignIn): Promise<void> {
    const { em, accounts, inviteOnly } = this.#parts;
    const signInResult = await view.enter(accounts, form, ctx.state);
    if ('faults' in signInResult) {
      setRefusal(ctx, signInResult);
      const email = form.get('email') ?? '';
      const page = this.#pageOf(ctx, question, browserToken);
      const shown = view.render({ ...page, email, faults: signInResult.faults, inviteOnly });
      return sendPage(ctx, shown, question.asker.redirectUri);
    }
    ctx.state.accountId = signInResult.id;
    await endWebSession(em(), browserToken);
    const session = await this.#inTurn(ctx, signInResult.id, () =>
      issueToken(em(), 'web_sessions', signInResult),
    );
    this.#cookie.write(ctx, session?.token);
    seeOther(ctx, question.page);
  }

  async #approve(
    ctx: PageContext,
    question: Question,
    browserToken: string,
    form: URLSearchParams,
  ): Promise<void> {
    const person = await ownerOfToken(this.#parts.em(), 'web_sessions', browserToken);
    if (person === undefined) return seeOther(ctx, question.page);
    const { accountId } = person;
    ctx.state.accountId = accountId;
    const code = await this.#inTurn(ctx, accountId, () => question.allow(form, accountId));
    if (code === undefined) return this.#showCurrentStep(ctx);
    redirectBack(ctx, question, { code });
  }

  async #deny(ctx: PageContext, question: Question): Promise<void> {
    if (!(await question.deny())) return this.#showCurrentStep(ctx);
    redirectBack(ctx, question, { error: 'access_denied' });
  }

  /** Answers a decision that was not stored, because it came too late or the account is gone or disabled. */
  async #showCurrentStep(ctx: PageContext): Promise<void> {
    seeOther(ctx, (await this.#questions.open(ctx)).page);
  }

  /** Runs work that locks the account's row, one piece at a time for each account. */
  #inTurn<T>({ state }: PageContext, accountId: string, work: () => Promise<T>): Promise<T> {
    return this.#parts.takeTurn({ party: logInParty(accountId), gone: state.signal }, work);
  }
}

/** Stands in for an app's redirect URI. Throws `not_found` in production, where no app may use it. */
export function showCallback(
  ctx: PageContext,
  { publicUrl, production }: Pick<ConsentParts, 'publicUrl' | 'production'>,
): void {
  if (production) throw new AppError('not_found');
  // Avoids `ctx.URL`, which has no parameters when the `Host` header is malformed.
  const parameters = new URLSearchParams(ctx.querystring);
  ctx.type = 'html';
  ctx.body = callbackPage({ get: (name) => parameters.get(name) ?? '', publicUrl }).text;
}

/** `enter` signs the person in or up, `render` shows the form, also after a refusal. */
const VIEWS = {
  'sign-in': { enter: signIn, render: signInPage },
  'sign-up': { enter: signUp, render: signUpPage },
};

interface SubmittedSignIn {
  question: Question;
  browserToken: string;
  form: URLSearchParams;
  view: (typeof VIEWS)[keyof typeof VIEWS];
}

function redirectBack(ctx: PageContext, { asker, answer }: Question, outcome: Record<string, string>): void {
  seeOther(ctx, withParameters(asker.redirectUri, { ...outcome, ...answer }));
}

import type { AttemptView } from '../../shared/db/stores/connections/attempts.ts';
import { type Html, html } from '../pages/html.ts';
import { layoutPage } from '../pages/layout.ts';
import { csrfField, emailField, type FieldError, formAlert, inviteField, passwordField } from './fields.ts';
import { en, type Texts } from './strings/en.ts';

/** Who asks the person: an app, or a program that logs in. */
export interface Asker {
  appName: string;
  redirectUri: string;
}

export interface FormPageData {
  t: Texts;
  attempt: Asker;
  csrf: string;
  /** What the page's address has before `view`. */
  query: string;
}

/** Data of the question itself. `revokeUrl` leads to the console; undefined if there is none. */
export interface QuestionPageData extends FormPageData {
  email: string;
  revokeUrl: string | undefined;
}

/** Data of a sign-in or sign-up form. `email` and `faults` are set when a refused form is shown again. */
export interface CredentialsPageData extends FormPageData {
  email?: string;
  faults?: readonly FieldError[];
}

export function signInPage(page: CredentialsPageData): Html {
  const { t, attempt, faults = [] } = page;
  return layout(
    t,
    t.signIn.title,
    html`
    <h1>${t.signIn.heading}</h1>
    <p class="quiet">${t.signIn.lead(appName(attempt))}</p>
    ${formAlert(t, faults)}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      ${passwordField(t, faults, 'current-password')}
      <button class="primary wide" name="do" value="sign-in">${t.signIn.button}</button>
    </form>
    ${foot(
      page,
      html`<p>${t.signIn.toSignUp(viewLink(page, 'sign-up'))}</p>
      <p><a href="forgotten-password" target="_blank" rel="noopener">${t.signIn.forgotten}</a></p>`,
    )}`,
  );
}

export function signUpPage(page: CredentialsPageData & { inviteOnly: boolean }): Html {
  const { t, attempt, faults = [], inviteOnly } = page;
  return layout(
    t,
    t.signUp.title,
    html`
    <h1>${t.signUp.heading}</h1>
    <p class="quiet">${t.signUp.lead(appName(attempt))}</p>
    ${formAlert(t, faults)}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      ${passwordField(t, faults, 'new-password')}
      ${inviteOnly ? inviteField(t, faults) : undefined}
      <button class="primary wide" name="do" value="sign-up">${t.signUp.button}</button>
    </form>
    ${foot(page, html`<p>${t.signUp.toSignIn(viewLink(page, 'sign-in'))}</p>`)}`,
  );
}

const viewLink =
  ({ query }: FormPageData, view: string) =>
  (words: string) =>
    html`<a href="?${query}view=${view}">${words}</a>`;

/** Numbers of days after which a consent ends; null: when it is revoked. */
export const CONSENT_DAYS = [null, 1, 7, 30, 90, 365] as const;

export function consentPage(page: QuestionPageData): Html {
  const { t, attempt } = page;
  const { consent } = t;
  return layout(
    t,
    consent.title,
    html`
    <h1>${consent.heading(appName(attempt))}</h1>
    ${signedInAs(page)}
    <section aria-labelledby="terms">
      <h2 id="terms">${t.terms}</h2>
      <ul>
        ${term('may', consent.shapes, consent.shapesHow)}
        ${term('not', consent.noReading, consent.noReadingHow)}
        ${term('may', consent.learns, consent.learnsHow)}
        ${term('not', consent.addsNothing, consent.addsNothingHow)}
        ${term('may', canRevoke(page), consent.afterRevoke)}
      </ul>
    </section>
    <form method="post" class="choice">
      ${csrfField(page)}
      <fieldset>
        <legend>${consent.scope}</legend>
        <label class="check"><input type="radio" name="memory" value="all" checked>${consent.all}</label>
        <label class="check"><input type="radio" name="memory" value="facts">${consent.facts}</label>
      </fieldset>
      <div class="field">
        <label for="projects">${consent.projects}</label>
        <input id="projects" name="projects" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="2000"
          aria-describedby="projects-hint">
        <p class="quiet" id="projects-hint">${consent.projectsHint}</p>
      </div>
      <div class="field">
        <label for="days">${consent.until}</label>
        <select id="days" name="days">${CONSENT_DAYS.map(
          (days) => html`<option value="${days ?? ''}">${consent.days(days)}</option>`,
        )}</select>
      </div>
      ${decisionButtons(t)}
    </form>
    ${wayBack(t, new URL(attempt.redirectUri).host)}`,
  );
}

/** One line of what a decision means: `may` is what happens, `not` what does not. */
export function term(kind: 'may' | 'not', what: Html | string, how: string): Html {
  return html`<li class="${kind}"><strong>${what}</strong> <span>${how}</span></li>`;
}

export function decisionButtons({ allow, deny }: Texts): Html {
  return html`<button class="primary" name="do" value="approve">${allow}</button>
      <button class="secondary" name="do" value="deny">${deny}</button>`;
}

export function wayBack({ backTo }: Texts, place: string): Html {
  return html`<p class="foot small quiet">${backTo(html`<strong><bdi>${place}</bdi></strong>`)}</p>`;
}

export function signedInAs(page: QuestionPageData): Html {
  return html`
    <form method="post" class="account">
      ${csrfField(page)}
      <p><span class="quiet">${page.t.signedInAs}</span><strong><bdi>${page.email}</bdi></strong></p>
      <button class="link small" name="do" value="switch">${page.t.otherAccount}</button>
    </form>`;
}

export function canRevoke({ t, revokeUrl }: Pick<QuestionPageData, 't' | 'revokeUrl'>): Html {
  return t.canRevoke((words) =>
    revokeUrl === undefined
      ? html`${words}`
      : html`<a href="${revokeUrl}" target="_blank" rel="noopener">${words}</a>`,
  );
}

export function closedPage(t: Texts, attempt: AttemptView): Html {
  const { closed } = t;
  const app = appName(attempt);
  return attempt.standing === 'expired'
    ? messagePage(t, closed.expired, html`<p>${closed.expiredWhy(app)}</p>`)
    : messagePage(t, closed.answered, html`<p>${closed.answeredWhy}</p><p>${closed.goBack(app)}</p>`);
}

interface CallbackQuery {
  /** Returns a parameter of the query; empty if it is absent. */
  get(name: string): string;
  /** Public address of this service, with which the parameter `iss` is compared. */
  publicUrl: string;
}

/** Stands in for an app's redirect URI during development: shows its developer, in English, what the app would do next. */
export function callbackPage({ get, publicUrl }: CallbackQuery): Html {
  const error = get('error');
  if (error !== '')
    return messagePage(
      en,
      'The app may not use the memory',
      html`<p>It gets <code>error=${error}</code> and its own <code>state</code>, and no code.</p>`,
    );
  const body = {
    request_id: '… of the start',
    user_id: '… of the start',
    code: get('code'),
    code_verifier: '… that the challenge was made from',
    redirect_uri: `${publicUrl}/connect/callback`,
  };
  const issuer = get('iss');
  return messagePage(
    en,
    'Back in the app',
    html`
    <p class="quiet">This page stands in for your app's own. An app now takes three steps, on its server.</p>
    <h2>1. Compare</h2>
    <p><code>state</code> with the one that it sent: <code>${get('state')}</code></p>
    <p><code>iss</code> with our address: <code>${issuer}</code>, which is ${issuer === publicUrl ? 'right' : 'wrong'}</p>
    <h2>2. Exchange the code, within two minutes</h2>
    <pre>${get('code')}</pre>
    <p><code>POST ${publicUrl}/v1/connections/exchange</code>, with the app's key:</p>
    <pre>${JSON.stringify(body, null, 2)}</pre>
    <h2>3. Name the connection</h2>
    <p>The answer has a <code>connection_id</code>. Predictions that name it may use the memory, until either side revokes it.</p>`,
  );
}

export function messagePage(t: Texts, title: string, text: Html): Html {
  return layout(t, title, html`<h1>${title}</h1>${text}`);
}

/** Links to the same page without its query. All links are relative, so that they work under a path prefix. */
export const reloadLink = ({ reload }: Texts) => html`<p><a href="?">${reload}</a></p>`;

export function layout({ lang }: Texts, title: string, content: Html): Html {
  return layoutPage({ title, lang, content, root: '../' });
}

/** Isolates the name (`<bdi>`), so that right-to-left characters in it cannot reorder the text around it. */
export function appName({ appName }: Pick<Asker, 'appName'>): Html {
  return html`<strong><bdi>${appName}</bdi></strong>`;
}

function foot(page: FormPageData, alternative: Html): Html {
  return html`
    <div class="foot">
      ${alternative}
      <form method="post">
        ${csrfField(page)}
        <button class="link" name="do" value="deny">${page.t.cancel(html`<bdi>${page.attempt.appName}</bdi>`)}</button>
      </form>
    </div>`;
}

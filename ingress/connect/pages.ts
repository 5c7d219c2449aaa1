import type { AttemptView } from '../../shared/db/stores/connections/attempts.ts';
import { type Html, html } from '../pages/html.ts';
import { layoutPage } from '../pages/layout.ts';
import { csrfField, emailField, type FieldError, formAlert, inviteField, passwordField } from './fields.ts';

export interface FormPageData {
  attempt: AttemptView;
  csrf: string;
}

/** Data of a sign-in or sign-up form. `email` and `faults` are set when a refused form is shown again. */
export interface CredentialsPageData extends FormPageData {
  email?: string;
  faults?: readonly FieldError[];
}

export function signInPage(page: CredentialsPageData): Html {
  const { attempt, faults = [] } = page;
  return layout(
    'Sign in',
    html`
    <h1>Sign in to continue</h1>
    <p class="quiet">${appName(attempt)} asks to use your Forecue memory. Sign in first; then you decide.</p>
    ${formAlert(faults)}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      ${passwordField(faults, 'current-password')}
      <button class="primary wide" name="do" value="sign-in">Sign in</button>
    </form>
    ${foot(
      page,
      html`<p>New to Forecue? <a href="?view=sign-up">Create an account</a></p>
      <p><a href="forgotten-password" target="_blank" rel="noopener">Forgot your password?</a></p>`,
    )}`,
  );
}

export function signUpPage(page: CredentialsPageData & { inviteOnly: boolean }): Html {
  const { attempt, faults = [], inviteOnly } = page;
  return layout(
    'Create an account',
    html`
    <h1>Create your account</h1>
    <p class="quiet">${appName(attempt)} asks to use your Forecue memory. Create an account first; then you decide.</p>
    ${formAlert(faults)}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      ${passwordField(faults, 'new-password')}
      ${inviteOnly ? inviteField(faults) : undefined}
      <button class="primary wide" name="do" value="sign-up">Create account</button>
    </form>
    ${foot(page, html`<p>Have an account already? <a href="?view=sign-in">Sign in</a></p>`)}`,
  );
}

/** Numbers of days after which a consent ends; null: when it is revoked. */
export const CONSENT_DAYS = [null, 1, 7, 30, 90, 365] as const;

/** `revokeUrl` leads to the console, where the person can revoke the consent; undefined if there is no console. */
export function consentPage(page: FormPageData & { email: string; revokeUrl: string | undefined }): Html {
  const { attempt, email, revokeUrl } = page;
  const revoke =
    revokeUrl === undefined
      ? 'revoke this at any time'
      : html`<a href="${revokeUrl}" target="_blank" rel="noopener">revoke this at any time</a>`;
  return layout(
    'Allow access',
    html`
    <h1>Allow ${appName(attempt)} to use your memory?</h1>
    <form method="post" class="account">
      ${csrfField(page)}
      <p><span class="quiet">Signed in as</span><strong><bdi>${email}</bdi></strong></p>
      <button class="link small" name="do" value="switch">Use another account</button>
    </form>
    <section aria-labelledby="terms">
      <h2 id="terms">What this means</h2>
      <ul>
        <li class="may"><strong>Your memory shapes its predictions</strong>
          <span>Forecue uses your profile, facts and what you wrote lately to suggest what you type next in the app. A suggestion may
          reflect what they say.</span></li>
        <li class="not"><strong>It cannot read your memory as such</strong>
          <span>The app gets the suggestions, and no access to your profile, facts or texts.</span></li>
        <li class="may"><strong>It can learn from suggestions</strong>
          <span>By trying out beginnings, the app could find words that you use, and names are words, too. It could also find phrases
          that you wrote in different texts and sessions, or by habit. Forecue never uses what it recognises as a password or key, as
          an amount of money, or as about your health, beliefs or papers. The same holds for words of six characters or more that
          mix letters and digits. Phrases leave out long numbers, addresses and names of accounts, too. Texts and facts that you tagged
          private are left out. It does not recognise every secret.</span></li>
        <li class="not"><strong>It adds nothing to your memory</strong>
          <span>What the app sends to Forecue is not stored there.</span></li>
        <li class="may"><strong>You can ${revoke}</strong>
          <span>From then on your memory is not used for the app any more.</span></li>
      </ul>
    </section>
    <form method="post" class="choice">
      ${csrfField(page)}
      <fieldset>
        <legend>What it may use</legend>
        <label class="check"><input type="radio" name="memory" value="all" checked>Your profile, facts and what you wrote</label>
        <label class="check"><input type="radio" name="memory" value="facts">Only your profile and facts</label>
      </fieldset>
      <div class="field">
        <label for="days">Until</label>
        <select id="days" name="days">${CONSENT_DAYS.map(
          (days) => html`<option value="${days ?? ''}">${dayText(days)}</option>`,
        )}</select>
      </div>
      <button class="primary" name="do" value="approve">Allow</button>
      <button class="secondary" name="do" value="deny">Deny</button>
    </form>
    <p class="foot small quiet">Either way you go back to <strong><bdi>${new URL(attempt.redirectUri).host}</bdi></strong>.</p>`,
  );
}

function dayText(days: (typeof CONSENT_DAYS)[number]): string {
  if (days === null) return 'you revoke it';
  return days === 1 ? 'tomorrow' : `${days} days from now`;
}

export function closedPage(attempt: AttemptView): Html {
  const app = appName(attempt);
  return attempt.standing === 'expired'
    ? messagePage(
        'This request has expired',
        html`<p>A request to connect waits for a short while only. Go back to ${app} and start again.</p>`,
      )
    : messagePage(
        'This request was already answered',
        html`
        <p>It was allowed or denied before. After a second click, the first one counts.</p>
        <p>If ${app} did not go on by itself, go back to it and start again.</p>`,
      );
}

interface CallbackQuery {
  /** Returns a parameter of the query; empty if it is absent. */
  get(name: string): string;
  /** Public address of this service, with which the parameter `iss` is compared. */
  publicUrl: string;
}

/** Stands in for an app's redirect URI during development: shows what the app would do next. */
export function callbackPage({ get, publicUrl }: CallbackQuery): Html {
  const error = get('error');
  if (error !== '')
    return messagePage(
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

export function messagePage(title: string, text: Html): Html {
  return layout(title, html`<h1>${title}</h1>${text}`);
}

/** Links to the same page without its query. All links are relative, so that they work under a path prefix. */
export const reloadLink = html`<p><a href="?">Load the page again</a></p>`;

export function layout(title: string, content: Html): Html {
  return layoutPage({ title, content, root: '../' });
}

/** Isolates the name (`<bdi>`), so that right-to-left characters in it cannot reorder the text around it. */
function appName({ appName }: AttemptView): Html {
  return html`<strong><bdi>${appName}</bdi></strong>`;
}

function foot(page: FormPageData, alternative: Html): Html {
  return html`
    <div class="foot">
      ${alternative}
      <form method="post">
        ${csrfField(page)}
        <button class="link" name="do" value="deny">Cancel and go back to <bdi>${page.attempt.appName}</bdi></button>
      </form>
    </div>`;
}

import type { AttemptView } from '../../shared/db/stores/connections/attempts.ts';
import { PASSWORD_MIN } from '../../shared/schemas/limits.ts';
import { type Html, html, markup } from './html.ts';
import { STYLE } from './style.ts';

/** What every form of an attempt needs. */
export interface FormPage {
  attempt: AttemptView;
  csrf: string;
}

/** A sign-in or sign-up form, the second time with what was wrong and what had been typed. */
export interface CredentialsPage extends FormPage {
  email?: string;
  faults?: readonly FieldFault[];
}

export type Field = 'email' | 'password' | 'invite_code';

/** What is wrong with a field, or without one with the whole form. */
export interface FieldFault {
  field?: Field;
  message: string;
}

export function signInPage(page: CredentialsPage): Html {
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
    ${foot(page, html`<p>New to Forecue? <a href="?view=sign-up">Create an account</a></p>`)}`,
  );
}

export function signUpPage(page: CredentialsPage & { inviteOnly: boolean }): Html {
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

export function consentPage(page: FormPage & { email: string }): Html {
  const { attempt, email } = page;
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
        <li class="may"><strong>Your profile and facts shape its predictions</strong>
          <span>Forecue uses both to suggest what you type next in the app. A suggestion may reflect what they say.</span></li>
        <li class="not"><strong>It cannot read your memory</strong>
          <span>The app gets the suggestions, and no access to your profile or facts.</span></li>
        <li class="not"><strong>It adds nothing to your memory</strong>
          <span>What the app sends to Forecue is not stored there.</span></li>
        <li class="may"><strong>You can revoke this at any time</strong>
          <span>From then on your memory is not used for the app any more.</span></li>
      </ul>
    </section>
    <form method="post" class="choice">
      ${csrfField(page)}
      <button class="primary" name="do" value="approve">Allow</button>
      <button class="secondary" name="do" value="deny">Deny</button>
    </form>
    <p class="foot small quiet">Either way you go back to <strong><bdi>${new URL(attempt.redirectUri).host}</bdi></strong>.</p>`,
  );
}

/** The time to decide is over, or somebody has decided. */
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

/** A plain page that tells one thing. */
export function messagePage(title: string, text: Html): Html {
  return layout(title, html`<h1>${title}</h1>${text}`);
}

/** The reader's way to the attempt's first page, relative, so that a prefix in front of our paths does no harm. */
export const startOver = html`<p><a href="?">Load the page again</a></p>`;

function layout(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} – Forecue</title>
    <style>${markup(STYLE)}</style>
  </head>
  <body>
    <header>${MARK} Forecue</header>
    <main>${content}</main>
  </body>
</html>
`;
}

/** A caret, and what may come after it. */
const MARK = html`<svg viewBox="0 0 24 24" aria-hidden="true"><rect x="3" y="3" width="3" height="18" rx="1.5"/><rect x="9" y="6" width="12" height="3" rx="1.5" opacity=".85"/><rect x="9" y="11" width="9" height="3" rx="1.5" opacity=".55"/><rect x="9" y="16" width="5" height="3" rx="1.5" opacity=".3"/></svg>`;

/** Isolated: a name that changes the direction of writing changes its own only. */
function appName({ appName }: AttemptView): Html {
  return html`<strong><bdi>${appName}</bdi></strong>`;
}

function csrfField({ csrf }: FormPage): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** Whoever has no account, or wants none, is let go too. */
function foot(page: FormPage, alternative: Html): Html {
  return html`
    <div class="foot">
      ${alternative}
      <form method="post">
        ${csrfField(page)}
        <button class="link" name="do" value="deny">Cancel and go back to <bdi>${page.attempt.appName}</bdi></button>
      </form>
    </div>`;
}

const FORM_ALERT = 'form-fault';
const HINT = 'password-hint';

function formAlert(faults: readonly FieldFault[]): Html | undefined {
  const fault = faults.find(({ field }) => field === undefined);
  return fault && html`<p class="fault alert" role="alert" id="${FORM_ALERT}">${fault.message}</p>`;
}

/** Not of the type `email`: browsers rewrite what is in such a field when its domain is not in Latin letters. */
function emailField({ email, faults = [] }: CredentialsPage): Html {
  return html`
    <div class="field">
      <label for="email">E-mail</label>
      <input id="email" name="email" inputmode="email" autocomplete="username" autocapitalize="none"
        spellcheck="false" required value="${email ?? ''}"${aria('email', faults)}>
      ${fieldAlert('email', faults)}
    </div>`;
}

/** What is wrong with a new password takes the place of the hint. */
function passwordField(
  faults: readonly FieldFault[],
  autocomplete: 'current-password' | 'new-password',
): Html {
  const isHinted = autocomplete === 'new-password' && !isFaulty('password', faults);
  return html`
    <div class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="${autocomplete}"
        required${aria('password', faults, isHinted ? HINT : undefined)}>
      ${isHinted ? html`<p class="quiet" id="${HINT}">At least ${PASSWORD_MIN} characters.</p>` : undefined}
      ${fieldAlert('password', faults)}
    </div>`;
}

function inviteField(faults: readonly FieldFault[]): Html {
  return html`
    <div class="field">
      <label for="invite_code">Invite code</label>
      <input id="invite_code" name="invite_code" autocomplete="off" autocapitalize="none"
        spellcheck="false" required${aria('invite_code', faults)}>
      ${fieldAlert('invite_code', faults)}
    </div>`;
}

function fieldAlert(field: Field, faults: readonly FieldFault[]): Html | undefined {
  const fault = faults.find((one) => one.field === field);
  return fault && html`<p class="fault" role="alert" id="${field}-fault">${fault.message}</p>`;
}

function isFaulty(field: Field | undefined, faults: readonly FieldFault[]): boolean {
  return faults.some((fault) => fault.field === field);
}

/** Ties a field to what is said about it. The first faulty one takes the focus; a fault of the form is the e-mail's. */
function aria(field: Field, faults: readonly FieldFault[], hint?: string): Html {
  const [first] = faults;
  const descriptions = [
    hint,
    isFaulty(field, faults) ? `${field}-fault` : undefined,
    isFaulty(undefined, faults) ? FORM_ALERT : undefined,
  ].filter((id) => id !== undefined);
  const attributes = [
    descriptions.length > 0 ? html` aria-describedby="${descriptions.join(' ')}"` : undefined,
    isFaulty(field, faults) ? html` aria-invalid="true"` : undefined,
    first !== undefined && (first.field ?? 'email') === field ? html` autofocus` : undefined,
  ];
  return html`${attributes}`;
}

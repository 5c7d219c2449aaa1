import { type Html, html } from '../pages/html.ts';
import { csrfField, emailField, type FieldError, formAlert, passwordField } from './fields.ts';
import { layout, messagePage } from './pages.ts';

interface ForgottenPage {
  csrf: string;
  email?: string;
  faults?: readonly FieldError[];
}

export function forgottenPage(page: ForgottenPage): Html {
  return layout(
    'Forgot your password?',
    html`
    <h1>Forgot your password?</h1>
    <p class="quiet">We mail you a link to choose a new one. It works once, within an hour.</p>
    ${formAlert(page.faults ?? [])}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      <button class="primary wide">Mail me a link</button>
    </form>`,
  );
}

export function askOperatorPage(): Html {
  return messagePage(
    'Forgot your password?',
    html`
    <p>This server sends no e-mail. Ask whoever runs it for a link to a new password.</p>`,
  );
}

/** Does not reveal whether the address has an account. */
export function mailedPage(email: string): Html {
  return messagePage(
    'Check your inbox',
    html`
    <p>If <strong><bdi>${email}</bdi></strong> has an account, a link to a new password is on its way there. It works once,
      within an hour.</p>
    <div class="foot"><p class="quiet small">Nothing arrived? Check the spam folder.</p>
      <p><a href="?">Try another address</a></p></div>`,
  );
}

interface NewPasswordPage {
  csrf: string;
  email: string;
  faults?: readonly FieldError[];
}

export function newPasswordPage(page: NewPasswordPage): Html {
  const { email, faults = [] } = page;
  return layout(
    'Choose a new password',
    html`
    <h1>Choose a new password</h1>
    <p class="quiet">For <strong><bdi>${email}</bdi></strong>. It signs you out wherever you are signed in.</p>
    ${formAlert(faults)}
    <form method="post">
      ${csrfField(page)}
      <input type="hidden" name="email" autocomplete="username" value="${email}">
      ${passwordField(faults, 'new-password')}
      <label class="check"><input type="checkbox" name="revoke_keys" value="yes">
        <span>Revoke my keys too<span class="quiet small">If somebody else may know the old password.</span></span></label>
      <button class="primary wide">Save the new password</button>
    </form>`,
  );
}

export function linkEndedPage(): Html {
  return messagePage(
    'This link has ended',
    html`
    <p>A link to a new password works once, and for a limited time. This one was used before, has expired, or is incomplete.</p>
    <p><a href="forgotten-password">Ask for a new link</a></p>`,
  );
}

/** `consoleUrl` is undefined if there is no console. */
export function changedPage(consoleUrl: string | undefined): Html {
  return messagePage(
    'Your password is changed',
    html`
    <p>You are signed out everywhere. Sign in with the new password from now on.</p>
    ${
      consoleUrl === undefined
        ? html`<p>You can close this page, and go back to where you came from.</p>`
        : html`<p><a class="button primary wide" href="${consoleUrl}">Sign in to the console</a></p>
          <p class="quiet small">Or close this page, and go back to where you came from.</p>`
    }`,
  );
}

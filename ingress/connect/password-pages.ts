import { type Html, html } from '../pages/html.ts';
import { layoutPage } from '../pages/layout.ts';
import { csrfField, emailField, type FieldError, formAlert, passwordField } from './fields.ts';

interface ForgottenPage {
  csrf: string;
  email?: string;
  faults?: readonly FieldError[];
}

/** Asks for the e-mail address to which the link goes. */
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

/** Says whom to ask for a link, on a server that sends no e-mail. */
export function askOperatorPage(): Html {
  return layout(
    'Forgot your password?',
    html`
    <h1>Forgot your password?</h1>
    <p>This server sends no e-mail. Ask whoever runs it for a link to a new password.</p>`,
  );
}

/** Says that a link is on its way if the address has an account, so that nobody learns whether it has one. */
export function mailedPage(email: string): Html {
  return layout(
    'Check your inbox',
    html`
    <h1>Check your inbox</h1>
    <p>If <strong><bdi>${email}</bdi></strong> has an account, a link to a new password is on its way there. It works once,
      within an hour.</p>
    <div class="foot"><p class="quiet small">Nothing arrived? Check the spam folder.</p>
      <p><a href="?">Try another address</a></p></div>`,
  );
}

interface NewPasswordPage {
  csrf: string;
  /** E-mail address of the account. */
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

/** Explains that a link was used, has expired, or was never issued. */
export function linkEndedPage(): Html {
  return layout(
    'This link has ended',
    html`
    <h1>This link has ended</h1>
    <p>A link to a new password works once, and for a limited time. This one was used before, has expired, or is incomplete.</p>
    <p><a href="forgotten-password">Ask for a new link</a></p>`,
  );
}

/** Says that the password is changed. `consoleUrl` leads to the console, if there is one. */
export function changedPage(consoleUrl: string | undefined): Html {
  return layout(
    'Your password is changed',
    html`
    <h1>Your password is changed</h1>
    <p>You are signed out everywhere. Sign in with the new password from now on.</p>
    ${
      consoleUrl === undefined
        ? html`<p>You can close this page, and go back to where you came from.</p>`
        : html`<p><a class="button primary wide" href="${consoleUrl}">Sign in to the console</a></p>
          <p class="quiet small">Or close this page, and go back to where you came from.</p>`
    }`,
  );
}

function layout(title: string, content: Html): Html {
  return layoutPage({ title, content, root: '../' });
}

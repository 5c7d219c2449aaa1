import { type Html, html } from '../pages/html.ts';
import { csrfField, emailField, type FieldError, formAlert, passwordField } from './fields.ts';
import { layout, messagePage } from './pages.ts';
import type { Texts } from './strings/en.ts';

interface ForgottenPage {
  t: Texts;
  csrf: string;
  email?: string;
  faults?: readonly FieldError[];
}

export function forgottenPage(page: ForgottenPage): Html {
  const { t, faults = [] } = page;
  const { title, lead, button } = t.forgotten;
  return layout(
    t,
    title,
    html`
    <h1>${title}</h1>
    <p class="quiet">${lead}</p>
    ${formAlert(t, faults)}
    <form method="post">
      ${csrfField(page)}
      ${emailField(page)}
      <button class="primary wide">${button}</button>
    </form>`,
  );
}

export function askOperatorPage(t: Texts): Html {
  return messagePage(t, t.forgotten.title, html`<p>${t.forgotten.askOperator}</p>`);
}

/** Does not reveal whether the address has an account. */
export function mailedPage(t: Texts, email: string): Html {
  const { mailed, onItsWay, nothing, another } = t.forgotten;
  return messagePage(
    t,
    mailed,
    html`
    <p>${onItsWay(html`<strong><bdi>${email}</bdi></strong>`)}</p>
    <div class="foot"><p class="quiet small">${nothing}</p>
      <p><a href="?">${another}</a></p></div>`,
  );
}

interface NewPasswordPage {
  t: Texts;
  csrf: string;
  email: string;
  faults?: readonly FieldError[];
}

export function newPasswordPage(page: NewPasswordPage): Html {
  const { t, email, faults = [] } = page;
  const { title, lead, revokeKeys, revokeKeysWhy, button } = t.newPassword;
  return layout(
    t,
    title,
    html`
    <h1>${title}</h1>
    <p class="quiet">${lead(html`<strong><bdi>${email}</bdi></strong>`)}</p>
    ${formAlert(t, faults)}
    <form method="post">
      ${csrfField(page)}
      <input type="hidden" name="email" autocomplete="username" value="${email}">
      ${passwordField(t, faults, 'new-password')}
      <label class="check"><input type="checkbox" name="revoke_keys" value="yes">
        <span>${revokeKeys}<span class="quiet small">${revokeKeysWhy}</span></span></label>
      <button class="primary wide">${button}</button>
    </form>`,
  );
}

export function linkEndedPage(t: Texts): Html {
  const { ended, endedWhy, askAgain } = t.newPassword;
  return messagePage(t, ended, html`<p>${endedWhy}</p><p><a href="forgotten-password">${askAgain}</a></p>`);
}

/** `consoleUrl` is undefined if there is no console. */
export function changedPage(t: Texts, consoleUrl: string | undefined): Html {
  const { changed, signedOut, close, toConsole, orClose } = t.newPassword;
  return messagePage(
    t,
    changed,
    html`
    <p>${signedOut}</p>
    ${
      consoleUrl === undefined
        ? html`<p>${close}</p>`
        : html`<p><a class="button primary wide" href="${consoleUrl}">${toConsole}</a></p>
          <p class="quiet small">${orClose}</p>`
    }`,
  );
}

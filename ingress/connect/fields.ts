import { type Html, html } from '../pages/html.ts';
import type { Texts } from './strings/en.ts';

export type Field = 'email' | 'password' | 'invite_code';

/** Error of a field, or of the whole form if it names no field. */
export interface FieldError {
  field?: Field;
  text: keyof Texts['faults'];
}

export function csrfField({ csrf }: { csrf: string }): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

const FORM_ALERT_ID = 'form-fault';
const PASSWORD_HINT_ID = 'password-hint';

export function formAlert(t: Texts, faults: readonly FieldError[]): Html | undefined {
  const fault = faults.find(({ field }) => field === undefined);
  return fault && html`<p class="fault alert" role="alert" id="${FORM_ALERT_ID}">${t.faults[fault.text]}</p>`;
}

interface EmailField {
  t: Texts;
  email?: string;
  faults?: readonly FieldError[];
}

/** A text field, because browsers rewrite non-Latin domains in a field of type `email`. */
export function emailField({ t, email, faults = [] }: EmailField): Html {
  return html`
    <div class="field">
      <label for="email">${t.email}</label>
      <input id="email" name="email" inputmode="email" autocomplete="username" autocapitalize="none"
        spellcheck="false" required value="${email ?? ''}"${ariaAttributes('email', faults)}>
      ${fieldAlert(t, 'email', faults)}
    </div>`;
}

export function passwordField(
  t: Texts,
  faults: readonly FieldError[],
  autocomplete: 'current-password' | 'new-password',
): Html {
  const showsHint = autocomplete === 'new-password' && !hasError('password', faults);
  return html`
    <div class="field">
      <label for="password">${t.password}</label>
      <input id="password" name="password" type="password" autocomplete="${autocomplete}"
        required${ariaAttributes('password', faults, showsHint ? PASSWORD_HINT_ID : undefined)}>
      ${showsHint ? html`<p class="quiet" id="${PASSWORD_HINT_ID}">${t.passwordHint}</p>` : undefined}
      ${fieldAlert(t, 'password', faults)}
    </div>`;
}

export function inviteField(t: Texts, faults: readonly FieldError[]): Html {
  return html`
    <div class="field">
      <label for="invite_code">${t.inviteCode}</label>
      <input id="invite_code" name="invite_code" autocomplete="off" autocapitalize="none"
        spellcheck="false" required${ariaAttributes('invite_code', faults)}>
      ${fieldAlert(t, 'invite_code', faults)}
    </div>`;
}

function fieldAlert(t: Texts, field: Field, faults: readonly FieldError[]): Html | undefined {
  const fault = faults.find((one) => one.field === field);
  return fault && html`<p class="fault" role="alert" id="${field}-fault">${t.faults[fault.text]}</p>`;
}

function hasError(field: Field | undefined, faults: readonly FieldError[]): boolean {
  return faults.some((fault) => fault.field === field);
}

/**
 * Links a field to its hint and errors. The field of the first error gets the focus. An error of the whole form gives
 * it to the e-mail field.
 */
function ariaAttributes(field: Field, faults: readonly FieldError[], hint?: string): Html {
  const [first] = faults;
  const descriptions = [
    hint,
    hasError(field, faults) ? `${field}-fault` : undefined,
    hasError(undefined, faults) ? FORM_ALERT_ID : undefined,
  ].filter((id) => id !== undefined);
  const attributes = [
    descriptions.length > 0 ? html` aria-describedby="${descriptions.join(' ')}"` : undefined,
    hasError(field, faults) ? html` aria-invalid="true"` : undefined,
    first !== undefined && (first.field ?? 'email') === field ? html` autofocus` : undefined,
  ];
  return html`${attributes}`;
}

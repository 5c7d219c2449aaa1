import { PASSWORD_MIN } from '../../shared/schemas/limits.ts';
import { type Html, html } from '../pages/html.ts';

export type Field = 'email' | 'password' | 'invite_code';

/** Fault of a field, or of the whole form if it names none. */
export interface FieldFault {
  field?: Field;
  message: string;
}

/** Renders the field that proves that the form is ours: see `CsrfTokens`. */
export function csrfField({ csrf }: { csrf: string }): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

const FORM_ALERT_ID = 'form-fault';
const PASSWORD_HINT_ID = 'password-hint';

/** Renders the fault of the whole form, if there is one. */
export function formAlert(faults: readonly FieldFault[]): Html | undefined {
  const fault = faults.find(({ field }) => field === undefined);
  return fault && html`<p class="fault alert" role="alert" id="${FORM_ALERT_ID}">${fault.message}</p>`;
}

/**
 * Renders the e-mail field as a text field: in one of type `email`, browsers rewrite domains that are not in Latin
 * letters.
 */
export function emailField({ email, faults = [] }: { email?: string; faults?: readonly FieldFault[] }): Html {
  return html`
    <div class="field">
      <label for="email">E-mail</label>
      <input id="email" name="email" inputmode="email" autocomplete="username" autocapitalize="none"
        spellcheck="false" required value="${email ?? ''}"${aria('email', faults)}>
      ${fieldAlert('email', faults)}
    </div>`;
}

/** Renders the password field. A fault of a new password takes the place of the hint. */
export function passwordField(
  faults: readonly FieldFault[],
  autocomplete: 'current-password' | 'new-password',
): Html {
  const isHinted = autocomplete === 'new-password' && !isFaulty('password', faults);
  return html`
    <div class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="${autocomplete}"
        required${aria('password', faults, isHinted ? PASSWORD_HINT_ID : undefined)}>
      ${isHinted ? html`<p class="quiet" id="${PASSWORD_HINT_ID}">At least ${PASSWORD_MIN} characters.</p>` : undefined}
      ${fieldAlert('password', faults)}
    </div>`;
}

/** Renders the field for an invite code, for when signing up needs one. */
export function inviteField(faults: readonly FieldFault[]): Html {
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

/**
 * Ties a field to its hint and faults. The first faulty field takes the focus; if the whole form is at fault, the
 * e-mail field does.
 */
function aria(field: Field, faults: readonly FieldFault[], hint?: string): Html {
  const [first] = faults;
  const descriptions = [
    hint,
    isFaulty(field, faults) ? `${field}-fault` : undefined,
    isFaulty(undefined, faults) ? FORM_ALERT_ID : undefined,
  ].filter((id) => id !== undefined);
  const attributes = [
    descriptions.length > 0 ? html` aria-describedby="${descriptions.join(' ')}"` : undefined,
    isFaulty(field, faults) ? html` aria-invalid="true"` : undefined,
    first !== undefined && (first.field ?? 'email') === field ? html` autofocus` : undefined,
  ];
  return html`${attributes}`;
}

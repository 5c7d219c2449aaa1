import { AppError } from '../../shared/errors/app-error.ts';
import { inputAt } from '../../shared/schemas/errors.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import { weaknessOf } from '../../shared/security/password-rules.ts';

/** Throws a `ValidationError` for a password that is too easy to guess. */
export function checkStrength(password: string, email: string): void {
  const msg = weaknessOf(password, email);
  if (msg !== undefined) throw validationErrorFor('password', msg);
}

export function validationErrorFor(field: string, msg: string, sent?: unknown): ValidationError {
  const loc = ['body', field];
  return new ValidationError([{ loc, type: 'value_error', msg, ...inputAt(loc, sent) }]);
}

/** Returns undefined for `access_denied`: the password reset link is no longer valid. Rethrows other errors. */
export function undefinedIfLinkEnded(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'access_denied')) throw error;
}

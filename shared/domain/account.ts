import { AppError } from '../errors/app-error.ts';
import { SCOPES, type Scope } from '../schemas/accounts.ts';

/** The log-in from which an access token was issued. */
export interface Login {
  /** The time at which the person gave the password, in Unix seconds. */
  readonly loggedInAt: number;
  /** Number of times that all log-ins of the account had been ended before this one. */
  readonly generation: number;
}

/** The person for whom a request to `/api` acts. */
export interface UserPrincipal {
  readonly id: string;
  /** Absent if the request was made with a key. */
  readonly login?: Login;
  /** Scopes of the key. Absent if the caller has all scopes. */
  readonly scopes?: readonly Scope[];
}

/** Path of the page on which a one-time link lets a person set a new password. */
export const PASSWORD_RESET_PATH = '/connect/new-password';

/** Returns the one-time link with which a person sets a new password. */
export function passwordResetLink(publicUrl: string, token: string): string {
  return `${publicUrl}${PASSWORD_RESET_PATH}?token=${token}`;
}

/** Maximum age of a log-in that counts as fresh, in seconds. */
const FRESH_LOGIN_MAX_S = 10 * 60;

/**
 * Guards actions that outlast a log-in (a new key) or destroy the account, since the caller may be a stranger who found
 * a credential. Throws `access_denied` for a key, and `fresh_login_required` when the log-in is older than ten minutes.
 */
export function requireFreshLogin(user: UserPrincipal): void {
  const { loggedInAt } = requireLogin(user);
  if (Date.now() / 1000 - loggedInAt > FRESH_LOGIN_MAX_S) throw new AppError('fresh_login_required');
}

/** Returns a caller's log-in. Throws `access_denied` for a key. */
export function requireLogin({ login }: UserPrincipal): Login {
  if (login === undefined) throw new AppError('access_denied');
  return login;
}

/** Reports whether a caller has at least one of the scopes. A caller has all of them unless its key lists some. */
export function hasScope({ scopes = SCOPES }: UserPrincipal, anyOf: readonly Scope[]): boolean {
  return anyOf.some((scope) => scopes.includes(scope));
}

/** Throws `access_denied` if a key has none of the scopes. Any one is enough. */
export function requireScope(user: UserPrincipal, anyOf: readonly Scope[]): void {
  if (hasScope(user, anyOf)) return;
  const explanation = `This needs a key with the scope ${anyOf.join(' or ')}; this one has ${user.scopes?.join(', ')}.`;
  throw new AppError('access_denied', { explanation });
}

/** Throws `token_expired` if all log-ins of the account were ended after this one began. */
export function requireCurrent({ generation }: Login, currentGeneration: number): void {
  if (generation !== currentGeneration) throw new AppError('token_expired');
}

/** A quota that the rows to be added would exceed. */
export interface ExceededQuota {
  /** Name of the counted things, in the plural. */
  resource: string;
  used: number;
  added: number;
  quota: number;
}

/** Returns the error for exceeded quotas. It states how much of each is used, and how much more would be needed. */
export function quotaError(excess: readonly ExceededQuota[]): AppError {
  const reasons = excess.map(
    ({ used, quota, resource, added }) =>
      `${used} of ${quota} ${resource} are used, and ${added} more would be needed`,
  );
  return new AppError('quota_exceeded', {
    explanation: `The account's quota is exceeded: ${reasons.join('; ')}.`,
  });
}

import { AppError } from '../errors/app-error.ts';
import { SCOPES, type Scope } from '../schemas/accounts.ts';

/** The log-in that an access token comes from. */
export interface Login {
  /** The time at which the person gave the password, in Unix seconds. */
  readonly loggedInAt: number;
  /** The account's generation of log-ins at that time. */
  readonly generation: number;
}

/** The person that a request of `/api` acts for. */
export interface UserPrincipal {
  readonly id: string;
  /** Absent: the request has a key alone. */
  readonly login?: Login;
  /** Scopes of the key; absent: all. */
  readonly scopes?: readonly Scope[];
}

/** The page of a one-time link to a new password. */
export const RESET_PATH = '/connect/new-password';

/** A one-time link to a new password. */
export function resetAddress(publicUrl: string, token: string): string {
  return `${publicUrl}${RESET_PATH}?token=${token}`;
}

const FRESH_S = 10 * 60;

/**
 * Refuses what would outlive or destroy everything else to a caller who may have found a credential lying about. Throws
 * `access_denied` for a key, and `fresh_login_required` when the log-in is older than ten minutes.
 */
export function requireFreshLogin(user: UserPrincipal): void {
  const { loggedInAt } = requireLogin(user);
  if (Date.now() / 1000 - loggedInAt > FRESH_S) throw new AppError('fresh_login_required');
}

/** The log-in of a caller. Throws `access_denied` for a key. */
export function requireLogin({ login }: UserPrincipal): Login {
  if (login === undefined) throw new AppError('access_denied');
  return login;
}

/** Reports whether a caller has one of the scopes; all but a key with some have all. */
export function hasScope({ scopes = SCOPES }: UserPrincipal, enough: readonly Scope[]): boolean {
  return enough.some((scope) => scopes.includes(scope));
}

/** Refuses a key that has none of the scopes, any of which is enough: throws `access_denied`. */
export function requireScope(user: UserPrincipal, enough: readonly Scope[]): void {
  if (hasScope(user, enough)) return;
  const explanation = `This needs a key with the scope ${enough.join(' or ')}; this one has ${user.scopes?.join(', ')}.`;
  throw new AppError('access_denied', { explanation });
}

/** Refuses a log-in that has ended with all others of its account: throws `token_expired`. */
export function requireCurrent({ generation }: Login, current: number): void {
  if (generation !== current) throw new AppError('token_expired');
}

/** A quota that has no room for what is to be added. */
export interface Excess {
  /** The name of what is counted, in the plural. */
  resource: string;
  used: number;
  added: number;
  quota: number;
}

/** The refusal to store something for an account, which says what is used, and of how much. */
export function quotaExceeded(excess: readonly Excess[]): AppError {
  const reasons = excess.map(
    ({ used, quota, resource, added }) =>
      `${used} of ${quota} ${resource} are used, and ${added} more would be needed`,
  );
  return new AppError('quota_exceeded', {
    explanation: `The account's quota is exceeded: ${reasons.join('; ')}.`,
  });
}

import { AppError } from '../errors/app-error.ts';
import type { Scope } from '../schemas/accounts.ts';

/** The log-in from which an access token was issued. */
export interface Login {
  readonly id: string;
  /** Unix seconds. */
  readonly loggedInAt: number;
  /** How often all log-ins of the account had been ended before this one began. */
  readonly generation: number;
}

/** What logged in, in words of ours; null if unknown. */
export interface Device {
  readonly client: string | null;
  readonly system: string | null;
}

export interface UserPrincipal {
  readonly id: string;
  /** Absent if the request was made with a key. */
  readonly login?: Login;
  /** Id of the key, if the request was made with one alone. */
  readonly keyId?: string;
  /** The larger of the floors of the account and the key: no prediction has a lower threshold. */
  readonly thresholdFloor: number;
  /** Absent if the caller has all scopes. */
  readonly scopes?: readonly Scope[];
}

export const PASSWORD_RESET_PATH = '/connect/new-password';

export function passwordResetLink(publicUrl: string, token: string): string {
  return `${publicUrl}${PASSWORD_RESET_PATH}?token=${token}`;
}

export const EMAIL_CHANGE_PATH = '/connect/new-email';

export function emailChangeLink(publicUrl: string, token: string): string {
  return `${publicUrl}${EMAIL_CHANGE_PATH}?token=${token}`;
}

const FRESH_LOGIN_MAX_S = 10 * 60;

/**
 * Throws `access_denied` if the caller used a key, and `fresh_login_required` if the log-in is too old. So a stranger
 * who found a credential cannot destroy the account.
 */
export function requireFreshLogin(user: UserPrincipal): void {
  const { loggedInAt } = requireLogin(user);
  if (Date.now() / 1000 - loggedInAt > FRESH_LOGIN_MAX_S) throw new AppError('fresh_login_required');
}

/** Throws `access_denied` if the caller used a key. */
export function requireLogin({ login }: UserPrincipal): Login {
  if (login === undefined) throw new AppError('access_denied');
  return login;
}

export function hasScope({ scopes }: UserPrincipal, anyOf: readonly Scope[]): boolean {
  return scopes === undefined || anyOf.some((scope) => scopes.includes(scope));
}

/** Throws `access_denied` if the caller has none of the scopes. Without any in `anyOf`, a key with scopes never has. */
export function requireScope(user: UserPrincipal, anyOf: readonly Scope[]): void {
  if (hasScope(user, anyOf)) return;
  const needed = anyOf.length === 0 ? 'without scopes' : `with the scope ${anyOf.join(' or ')}`;
  const explanation = `This needs a key ${needed}; this one has ${user.scopes?.join(', ')}.`;
  throw new AppError('access_denied', { explanation });
}

/** Throws `token_expired` if all log-ins of the account were ended after this one began. */
export function requireCurrentLogin({ generation }: Login, currentGeneration: number): void {
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

export function quotaError(excess: readonly ExceededQuota[]): AppError {
  const reasons = excess.map(
    ({ used, quota, resource, added }) =>
      `${used} of ${quota} ${resource} are used, and ${added} more would be needed`,
  );
  return new AppError('quota_exceeded', {
    explanation: `The account's quota is exceeded: ${reasons.join('; ')}.`,
  });
}

import { AppError } from '../errors/app-error.ts';

/** The person that a request of `/api` acts for. */
export interface UserPrincipal {
  readonly id: string;
  /** When the person gave the password for the access token, in Unix seconds. Absent: the request has a key alone. */
  readonly loggedInAt?: number;
}

const FRESH_S = 10 * 60;

/**
 * Refuses what would outlive or destroy everything else to a caller who may have found a credential lying about. Throws
 * `access_denied` for a key, and `fresh_login_required` when the log-in is older than ten minutes.
 */
export function requireFreshLogin({ loggedInAt }: UserPrincipal): void {
  if (loggedInAt === undefined) throw new AppError('access_denied');
  if (Date.now() / 1000 - loggedInAt > FRESH_S) throw new AppError('fresh_login_required');
}

import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import type { Account } from '../shared/db/entities/account.ts';
import {
  changeAccount,
  createAccount,
  emailKey,
  findAccount,
  findByEmail,
} from '../shared/db/stores/accounts.ts';
import { isInvite, useInvite } from '../shared/db/stores/invites.ts';
import { issueRefreshToken, ownerOfRefreshToken } from '../shared/db/stores/refresh-tokens.ts';
import { transaction } from '../shared/db/transaction.ts';
import { AppError } from '../shared/errors/app-error.ts';
import { ValidationError } from '../shared/schemas/validator.ts';
import type { AccessTokens } from '../shared/security/access-tokens.ts';
import { weaknessOf } from '../shared/security/password-rules.ts';
import { hashPassword, verifyPassword } from '../shared/security/passwords.ts';
import type { FailureThrottle } from './failure-throttle.ts';
import type { Lane } from './lane.ts';

export interface SignUp {
  email: string;
  password: string;
  name: string;
  inviteCode: string | undefined;
  address: string;
}

export interface SignIn {
  email: string;
  password: string;
  address: string;
}

/** What a person wants to be different. A new password goes with the current one. */
export interface Change {
  name: string | undefined;
  password: string | undefined;
  currentPassword: string | undefined;
  address: string;
}

interface AccountParts {
  em: () => EntityManager;
  tokens: AccessTokens;
  failures: FailureThrottle;
  /** Where passwords are hashed. */
  hashing: Lane;
  inviteOnly: boolean;
}

/**
 * Signing up and in, for `/api` and for the consent page, and what comes of it. A caller that goes away (`gone`) leaves
 * the line for the hashing, which may throw `overloaded`.
 */
export class AccountService {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /**
   * The new account. Throws `email_taken`, `invite_required` where signing up needs an invitation, and a
   * `ValidationError` for a password that is too easy to guess. Where it needs none, a code is neither looked at nor used.
   */
  async signUp({ email, password, name, inviteCode }: SignUp, gone?: AbortSignal): Promise<Account> {
    const { em, hashing } = this.#parts;
    checkStrength(password, email);
    const code = this.#parts.inviteOnly ? (inviteCode ?? '') : undefined;
    // Both are decided for good below; here they save the hashing.
    if (code !== undefined && !(await isInvite(em(), code))) throw new AppError('invite_required');
    if ((await findByEmail(em(), email)) !== undefined) throw new AppError('email_taken');
    const passwordHash = await hashing.run(() => hashPassword(password), { gone });
    try {
      return await transaction(em(), async (tx) => {
        if (code !== undefined && !(await useInvite(tx, code))) throw new AppError('invite_required');
        return createAccount(tx, { email, name, passwordHash });
      });
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException)
        throw new AppError('email_taken', { cause: error });
      throw error;
    }
  }

  /**
   * The account, if the password is its own. Throws `invalid_credentials`, whichever of the two is wrong, and
   * `rate_limited` after too many of that, for e-mail addresses without an account as well.
   */
  signIn({ email, password, address }: SignIn, gone?: AbortSignal): Promise<Account> {
    const { em, failures, hashing } = this.#parts;
    return failures.guard({ emailKey: emailKey(email), address }, async () => {
      // The look-up as well in its turn: those of a storm would all come at once.
      const look = async () => {
        const found = await findByEmail(em(), email);
        return [found, await verifyPassword(password, found?.passwordHash)] as const;
      };
      const [account, right] = await hashing.run(look, { gone });
      if (!right || account === undefined || !account.active) throw new AppError('invalid_credentials');
      return account;
    });
  }

  /** What a log-in gives. Throws `invalid_credentials` when the account has changed since it was read. */
  async tokensOf(account: Account): Promise<{ access: string; refresh: string }> {
    const refresh = await issueRefreshToken(this.#parts.em(), account);
    if (refresh === undefined) throw new AppError('invalid_credentials');
    return { access: await this.#parts.tokens.issue(account.id), refresh };
  }

  /** A new access token. Throws `not_authenticated` for a refresh token that is revoked, expired or unknown. */
  async renew(refresh: string): Promise<string> {
    const accountId = await ownerOfRefreshToken(this.#parts.em(), refresh);
    if (accountId === undefined) throw new AppError('not_authenticated');
    return this.#parts.tokens.issue(accountId);
  }

  /**
   * The changed account. Throws `access_denied` when the current password is wrong or missing, `rate_limited` after too
   * many of that, and a `ValidationError` for a new one that is too easy to guess.
   */
  async change(
    id: string,
    { name, password, currentPassword, address }: Change,
    gone?: AbortSignal,
  ): Promise<Account> {
    const { em, failures, hashing } = this.#parts;
    const account = await findAccount(em(), id);
    if (account === undefined) throw new AppError('not_authenticated');
    if (password === undefined) return changed(await changeAccount(em(), id, { name }));
    checkStrength(password, account.email);
    const { emailKey, passwordHash: from } = account;
    await failures.guard({ emailKey, address }, async () => {
      const right =
        currentPassword !== undefined &&
        (await hashing.run(() => verifyPassword(currentPassword, from), { gone }));
      if (!right) throw new AppError('access_denied');
    });
    const to = await hashing.run(() => hashPassword(password), { gone });
    return changed(await changeAccount(em(), id, { name, passwordHash: { from, to } }));
  }
}

/** Undefined: somebody else changed the password first, or erased or disabled the account. */
function changed(account: Account | undefined): Account {
  if (account === undefined) throw new AppError('access_denied');
  return account;
}

function checkStrength(password: string, email: string): void {
  const msg = weaknessOf(password, email);
  if (msg !== undefined) throw new ValidationError([{ loc: ['body', 'password'], type: 'value_error', msg }]);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { IngressConfig } from '../../shared/config/config.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import {
  changeAccount,
  createAccount,
  emailKey,
  endSessions,
  findAccount,
  findByEmail,
  findPasswordHash,
} from '../../shared/db/stores/accounts.ts';
import { isInvite, useInvite } from '../../shared/db/stores/invites.ts';
import { findPasswordReset, issueRefreshToken, ownerOfRefreshToken } from '../../shared/db/stores/log-ins.ts';
import { transaction } from '../../shared/db/transaction.ts';
import { requireLogin, type UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import { weaknessOf } from '../../shared/security/password-rules.ts';
import {
  DECOY_HASH,
  HASHING_THREADS,
  hashPassword,
  verifyPassword,
} from '../../shared/security/passwords.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import type { AccessTokens } from '../auth/access-tokens.ts';
import { FailureThrottle, type Guess, KnownNetworks } from '../limits/failure-throttle.ts';
import type { Limits } from '../limits/limiter.ts';
import { networkOf } from '../limits/network.ts';
import { SignUpLimit } from '../limits/sign-up-limit.ts';
import { presentUser } from './present.ts';

interface SignUp {
  email: string;
  password: string;
  name: string;
  inviteCode: string | undefined;
  address: string;
}

interface SignIn {
  email: string;
  password: string;
  address: string;
}

/** Changes that a person asks for. A new password requires the current one. */
interface Change {
  name: string | undefined;
  precisionTarget: number | null | undefined;
  password: string | undefined;
  currentPassword: string | undefined;
  /** Allowed together with a new password only. */
  revokeKeys: boolean;
  address: string;
}

/** The account of a one-time link, and the new password that it sets. */
type LinkOwner = NonNullable<Awaited<ReturnType<typeof findPasswordReset>>>;
interface Reset {
  password: string;
  revokeKeys: boolean;
  address: string;
}

/** Maximum number of a network's log-ins that wait in line, and of its sign-ups: at 35 ms each, two seconds' worth. */
const LINE_MAX = 64;

/**
 * Signs people up and in, for `/api` and for the consent page, and changes accounts. A caller that disconnects (`gone`)
 * leaves the line for the hashing of passwords. Methods that hash throw `overloaded` when that line is full.
 */
export class AccountService {
  readonly #em: () => EntityManager;
  readonly #tokens: AccessTokens;
  readonly #inviteOnly: boolean;
  readonly #failures: FailureThrottle;
  readonly #networks: KnownNetworks;
  readonly #signUps: SignUpLimit;
  /** Limits how many passwords are hashed at once. Networks take turns, so that one cannot hold up the others. */
  readonly #hashing = new ConcurrencyLimiter({ atOnce: HASHING_THREADS, longest: LINE_MAX });

  constructor(
    { signingKeys, inviteOnly, rateLimit }: Pick<IngressConfig, 'signingKeys' | 'inviteOnly' | 'rateLimit'>,
    { em, tokens, limits, log }: { em: () => EntityManager; tokens: AccessTokens; limits: Limits; log: Log },
  ) {
    this.#em = em;
    this.#tokens = tokens;
    this.#inviteOnly = inviteOnly;
    this.#failures = new FailureThrottle(limits);
    this.#networks = new KnownNetworks(em, signingKeys);
    this.#signUps = new SignUpLimit(limits, log, { isOff: rateLimit === undefined });
  }

  /**
   * Creates an account. Throws `email_taken`, `rate_limited` after too many tries from the network, `invite_required`
   * if signing up needs an invitation (if not, the code is ignored), and a `ValidationError` for a password that is too
   * easy to guess.
   */
  async signUp({ email, password, name, inviteCode, address }: SignUp, gone?: AbortSignal): Promise<Account> {
    checkStrength(password, email);
    await this.#signUps.countTry(address);
    const code = this.#inviteOnly ? (inviteCode ?? '') : undefined;
    // The transaction below checks both for good. Checking them here may save the hashing.
    if (code !== undefined && !(await isInvite(this.#em(), code))) throw new AppError('invite_required');
    if ((await findByEmail(this.#em(), email)) !== undefined) throw new AppError('email_taken');
    const passwordHash = await this.#inTurn('sign-up', address, gone, () => hashPassword(password));
    const account = await transaction(this.#em(), async (tx) => {
      if (code !== undefined) await useInvite(tx, code);
      return createAccount(tx, { email, name, passwordHash });
    });
    await Promise.all([this.#networks.remember(account, address), this.#signUps.countAccount()]);
    return account;
  }

  /**
   * Returns the account, if the password is right. Throws `invalid_credentials`, whether the e-mail address or the
   * password is wrong, and `rate_limited` after too many wrong tries, also for e-mail addresses without an account.
   */
  signIn({ email, password, address }: SignIn, gone?: AbortSignal): Promise<Account> {
    const key = emailKey(email);
    return this.#failures.guard(this.#passwordAttempt(key, key, address), async () => {
      // The look-up waits for its turn as well, because those of a storm would all come at once.
      const look = async () => {
        const hash = await findPasswordHash(this.#em(), email, DECOY_HASH);
        return (await verifyPassword(password, hash)) ? hash : undefined;
      };
      const hash = await this.#inTurn('log-in', address, gone, look);
      const account = hash === undefined ? undefined : await findByEmail(this.#em(), email);
      if (!account?.active || account.passwordHash !== hash) throw new AppError('invalid_credentials');
      await this.#networks.remember(account, address);
      return account;
    });
  }

  /** Logs the account in. Throws `invalid_credentials` when it has changed since it was read. */
  async logIn(account: Account): Promise<LoginResponse> {
    const { token: refresh, generation } = await issueRefreshToken(this.#em(), account);
    const login = { accountId: account.id, loggedInAt: Date.now() / 1000, generation };
    return { access: await this.#tokens.issue(login), refresh, user: presentUser(account) };
  }

  /**
   * Ends every log-in of the account, the caller's too. Throws `access_denied` for a key: somebody who found one could
   * end all log-ins again and again, before the owner gets to revoke the key.
   */
  async logOutEverywhere(user: UserPrincipal): Promise<void> {
    requireLogin(user);
    await transaction(this.#em(), (tx) => endSessions(tx, user.id));
  }

  /**
   * Issues a new access token, which keeps the time of its log-in. Throws `not_authenticated` for a refresh token that
   * is revoked, expired or unknown.
   */
  async renew(refresh: string): Promise<string> {
    const owner = await ownerOfRefreshToken(this.#em(), refresh);
    if (owner === undefined) throw new AppError('not_authenticated');
    return this.#tokens.issue(owner);
  }

  /**
   * Returns the changed account. Throws `access_denied` when the current password is wrong or missing, `rate_limited`
   * after too many such tries, and a `ValidationError` for a new password that is too easy to guess, or `revokeKeys`
   * without one.
   */
  async change(id: string, change: Change, gone?: AbortSignal): Promise<Account> {
    const { name, precisionTarget, password, currentPassword, revokeKeys, address } = change;
    const account = await findAccount(this.#em(), id);
    if (account === undefined) throw new AppError('not_authenticated');
    if (password === undefined && revokeKeys)
      throw fault('revoke_keys', 'Keys are revoked with a new password');
    if (password === undefined) return changeAccount(this.#em(), id, { name, precisionTarget });
    checkStrength(password, account.email);
    const { emailKey, passwordHash: from } = account;
    // Tries count by id, so that only callers with a credential of the account can use them up, and no stranger.
    await this.#failures.guard(this.#passwordAttempt(id, emailKey, address), async () => {
      const right =
        currentPassword !== undefined &&
        (await this.#inTurn('log-in', address, gone, () => verifyPassword(currentPassword, from)));
      if (!right) throw new AppError('access_denied');
    });
    const to = await this.#inTurn('log-in', address, gone, () => hashPassword(password));
    return changeAccount(this.#em(), id, {
      name,
      precisionTarget,
      passwordHash: { from, to },
      revokeKeys,
    });
  }

  /** Returns the account that a link to a new password is for; undefined once the link has ended. */
  ownerOfReset(token: string): ReturnType<typeof findPasswordReset> {
    return findPasswordReset(this.#em(), token);
  }

  /**
   * Gives a link's account a new password, which ends all its log-ins and links. Returns undefined if the password has
   * changed since the link was looked up. Throws a `ValidationError` for a password that is too easy to guess.
   */
  async resetPassword(
    { id, email, passwordHash: from }: LinkOwner,
    { password, revokeKeys, address }: Reset,
    gone?: AbortSignal,
  ): Promise<Account | undefined> {
    checkStrength(password, email);
    const to = await this.#inTurn('log-in', address, gone, () => hashPassword(password));
    const passwordHash = { from, to };
    const changed = await changeAccount(this.#em(), id, { passwordHash, revokeKeys }).catch(orEnded);
    if (changed !== undefined) await this.#networks.remember(changed, address);
    return changed;
  }

  #passwordAttempt(subject: string, key: string, address: string): Guess {
    return { subject, address, isKnown: () => this.#networks.knows(key, address) };
  }

  /** Works in the network's turn. Log-ins and sign-ups wait in separate lines, so that neither holds up the other. */
  #inTurn<T>(
    line: 'log-in' | 'sign-up',
    address: string,
    gone: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#hashing.run(work, { party: `${line} ${networkOf(address)}`, gone });
  }
}

function checkStrength(password: string, email: string): void {
  const msg = weaknessOf(password, email);
  if (msg !== undefined) throw fault('password', msg);
}

/** Converts `access_denied`, the answer to a link that has ended, to undefined. Rethrows other errors. */
function orEnded(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'access_denied')) throw error;
}

function fault(field: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg }]);
}

import type { IncomingHttpHeaders } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { IngressConfig } from '../../shared/config/config.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import { transaction } from '../../shared/db/statement.ts';
import {
  changeAccount,
  createAccount,
  emailKey,
  endSessions,
  findAccount,
  findByEmail,
  findPasswordHash,
} from '../../shared/db/stores/accounts.ts';
import { isInvite, redeemInvite } from '../../shared/db/stores/invites.ts';
import { ownerOfToken, type TokenOwner } from '../../shared/db/stores/log-ins.ts';
import { beginLogIn, renewLogIn } from '../../shared/db/stores/own-log-ins.ts';
import { requireLogin, type UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import {
  DECOY_HASH,
  HASHING_THREADS,
  hashPassword,
  verifyPassword,
} from '../../shared/security/passwords.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import type { AccessTokens } from '../auth/access-tokens.ts';
import { logInParty, type TakeTurn } from '../guards/account-turns.ts';
import type { LimiterFactory } from '../limits/limiter.ts';
import { KnownNetworks, type PasswordAttempt, PasswordThrottle } from '../limits/password-throttle.ts';
import { SignUpLimit } from '../limits/sign-up-limit.ts';
import { networkOf } from '../request/address.ts';
import { deviceOf } from './device.ts';
import { checkStrength, undefinedIfLinkEnded, validationErrorFor } from './errors.ts';
import { type Mailer, reportNewPassword } from './mailer.ts';
import { presentUser } from './present.ts';
import type { AccountChange, PasswordReset, SignUp } from './requests.ts';

interface AccountParts {
  em: () => EntityManager;
  takeTurn: TakeTurn;
  tokens: AccessTokens;
  limits: LimiterFactory;
  mailer: Mailer | undefined;
  publicUrl: string;
  log: Log;
}

/** Maximum length of each queue of a network. One thread needs two seconds for a full queue, at 35 ms per hash. */
const HASH_QUEUE_MAX = 64;

const REFRESH_ENDED = 'The refresh token is unknown or has ended; log in again.';
const WRONG_PASSWORD = 'The current password is missing or wrong.';

/**
 * Serves sign-up, log-in and changes of accounts. Methods that hash passwords throw `overloaded` when the queue of the
 * caller's network is full; a caller that disconnects (`gone`) leaves the queue.
 */
export class AccountService {
  readonly #parts: AccountParts;
  readonly #inviteOnly: boolean;
  readonly #throttle: PasswordThrottle;
  readonly #networks: KnownNetworks;
  readonly #signUps: SignUpLimit;
  /** Networks take turns at hashing, so that no network holds up the others. */
  readonly #hashLimiter = new ConcurrencyLimiter({ capacity: HASHING_THREADS, maxQueued: HASH_QUEUE_MAX });

  constructor(
    { signingKeys, inviteOnly, rateLimit }: Pick<IngressConfig, 'signingKeys' | 'inviteOnly' | 'rateLimit'>,
    parts: AccountParts,
  ) {
    const { em, limits, log } = parts;
    this.#parts = parts;
    this.#inviteOnly = inviteOnly;
    this.#throttle = new PasswordThrottle(limits);
    this.#networks = new KnownNetworks(em, signingKeys);
    this.#signUps = new SignUpLimit(limits, log, { isOff: rateLimit === undefined });
  }

  /**
   * Throws `email_taken`, `rate_limited`, `invite_required`, and a `ValidationError` for a password that is too easy to
   * guess. Ignores `inviteCode` unless sign-up is by invitation only.
   */
  async signUp({ email, password, name, inviteCode, address }: SignUp, gone?: AbortSignal): Promise<Account> {
    checkStrength(password, email);
    await this.#signUps.countAttempt(address);
    const code = this.#inviteOnly ? (inviteCode ?? '') : undefined;
    // Checks the invite code and the e-mail address before the costly hash. The transaction below checks both again.
    if (code !== undefined && !(await isInvite(this.#parts.em(), code)))
      throw new AppError('invite_required');
    if ((await findByEmail(this.#parts.em(), email)) !== undefined) throw new AppError('email_taken');
    const passwordHash = await this.#inTurn('sign-up', address, gone, () => hashPassword(password));
    const account = await transaction(this.#parts.em(), async (tx) => {
      if (code !== undefined) await redeemInvite(tx, code);
      return createAccount(tx, { email, name, passwordHash });
    });
    await Promise.all([this.#networks.remember(account, address), this.#signUps.countAccount()]);
    return account;
  }

  /**
   * Checks the password. Throws `invalid_credentials`, also for a disabled account, and `rate_limited` after too many
   * wrong attempts, also for an e-mail address without an account.
   */
  signIn(
    { email, password, address }: Pick<SignUp, 'email' | 'password' | 'address'>,
    gone?: AbortSignal,
  ): Promise<Account> {
    const key = emailKey(email);
    return this.#throttle.guard(this.#passwordAttempt(key, key, address), async () => {
      // Runs the look-up in the same turn as the hash, so that concurrent log-ins do not send all look-ups at once.
      const findIfCorrect = async () => {
        const hash = await findPasswordHash(this.#parts.em(), email, DECOY_HASH);
        return (await verifyPassword(password, hash)) ? hash : undefined;
      };
      const hash = await this.#inTurn('log-in', address, gone, findIfCorrect);
      const account = hash === undefined ? undefined : await findByEmail(this.#parts.em(), email);
      if (!account?.active || account.passwordHash !== hash) throw new AppError('invalid_credentials');
      await this.#networks.remember(account, address);
      return account;
    });
  }

  /**
   * Begins a log-in of the device that the headers describe. Throws `overloaded`, and `invalid_credentials` if the password was changed or the account disabled
   * since the account was read.
   */
  async logIn(account: Account, headers: IncomingHttpHeaders, gone: AbortSignal): Promise<LoginResponse> {
    const device = deviceOf(headers['user-agent']);
    const begun = await this.#parts.takeTurn({ party: logInParty(account.id), gone }, () =>
      beginLogIn(this.#parts.em(), account, device),
    );
    if (begun === undefined) throw new AppError('invalid_credentials');
    const access = await this.#parts.tokens.issue({ ...begun.login, accountId: account.id });
    return { access, refresh: begun.token, user: presentUser(account) };
  }

  /**
   * Throws `access_denied` for a key: a thief of the key could end all log-ins again and again, before the owner gets
   * to revoke the key.
   */
  async logOutEverywhere(user: UserPrincipal): Promise<void> {
    requireLogin(user);
    await transaction(this.#parts.em(), (tx) => endSessions(tx, user.id));
  }

  /**
   * Issues an access token with the original log-in time, and returns its account. Throws `not_authenticated` for an
   * invalid refresh token.
   */
  async renew(refresh: string): Promise<{ access: string; account: Account }> {
    const renewed = await renewLogIn(this.#parts.em(), refresh);
    if (renewed === undefined) throw new AppError('not_authenticated', { explanation: REFRESH_ENDED });
    const { login, account } = renewed;
    return { access: await this.#parts.tokens.issue({ ...login, accountId: account.id }), account };
  }

  /**
   * Throws `not_authenticated` without an active account of this id, and a `ValidationError` for `revokeKeys` without a new
   * password. With a new password, throws `access_denied` when the current one is wrong or missing, `rate_limited`
   * after too many such attempts, and a `ValidationError` when the new one is too easy to guess.
   */
  async change(id: string, change: AccountChange, gone?: AbortSignal): Promise<Account> {
    const { name, precisionTarget, thresholdFloor, password, currentPassword, revokeKeys, address } = change;
    const account = await findAccount(this.#parts.em(), id);
    if (account === undefined) throw new AppError('not_authenticated');
    if (password === undefined && revokeKeys)
      throw validationErrorFor('revoke_keys', 'Keys are revoked with a new password');
    if (password === undefined)
      return changeAccount(this.#parts.em(), id, { name, precisionTarget, thresholdFloor });
    checkStrength(password, account.email);
    const { passwordHash: from } = account;
    await this.checkPassword(account, { currentPassword, address }, gone);
    const to = await this.#inTurn('log-in', address, gone, () => hashPassword(password));
    const changedAccount = await changeAccount(this.#parts.em(), id, {
      name,
      precisionTarget,
      thresholdFloor,
      passwordHash: { from, to },
      revokeKeys,
    });
    reportNewPassword(this.#parts, changedAccount.email);
    return changedAccount;
  }

  /** Throws `access_denied` for a wrong or missing password, and `rate_limited` after too many of them. */
  async checkPassword(
    { id, emailKey, passwordHash }: Account,
    { currentPassword, address }: Pick<AccountChange, 'currentPassword' | 'address'>,
    gone?: AbortSignal,
  ): Promise<void> {
    // Counts attempts by id, not by e-mail address, so that strangers cannot use them up.
    await this.#throttle.guard(this.#passwordAttempt(id, emailKey, address), async () => {
      const isCorrect =
        currentPassword !== undefined &&
        (await this.#inTurn('log-in', address, gone, () => verifyPassword(currentPassword, passwordHash)));
      if (!isCorrect) throw new AppError('access_denied', { explanation: WRONG_PASSWORD });
    });
  }

  /** Returns the account for which the reset link was issued; undefined if the link is no longer valid. */
  ownerOfReset(token: string): Promise<TokenOwner | undefined> {
    return ownerOfToken(this.#parts.em(), 'password_resets', token);
  }

  /**
   * Ends all log-ins and reset links of the account too. Returns undefined if something else ended the link meanwhile.
   * Throws a `ValidationError` for a password that is too easy to guess.
   */
  async resetPassword(
    { accountId: id, email, generation }: TokenOwner,
    { password, revokeKeys, address }: PasswordReset,
    gone?: AbortSignal,
  ): Promise<Account | undefined> {
    checkStrength(password, email);
    const to = await this.#inTurn('log-in', address, gone, () => hashPassword(password));
    const changedAccount = await this.#parts.takeTurn({ party: logInParty(id), gone }, () =>
      changeAccount(this.#parts.em(), id, { passwordHash: { to }, generation, revokeKeys }).catch(
        undefinedIfLinkEnded,
      ),
    );
    if (changedAccount === undefined) return undefined;
    reportNewPassword(this.#parts, changedAccount.email);
    await this.#networks.remember(changedAccount, address);
    return changedAccount;
  }

  #passwordAttempt(subject: string, key: string, address: string): PasswordAttempt {
    return { subject, address, isKnown: () => this.#networks.knows(key, address) };
  }

  /** Log-ins and sign-ups of a network queue separately, so that neither holds up the other. */
  #inTurn<T>(
    queue: 'log-in' | 'sign-up',
    address: string,
    gone: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#hashLimiter.run(work, { party: `${queue} ${networkOf(address)}`, gone });
  }
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Login } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { type Account, RefreshToken } from '../entities/account.ts';

/** Maximum number of tokens of one kind that an account has: more than a person has devices and browsers. */
const TOKENS_MAX = 100;
/** Maximum number of surplus tokens that one log-in deletes. */
const DELETED_TOKENS_MAX = 1000;

/** A new token, and the generation of log-ins that it belongs to. */
interface LoginToken {
  token: string;
  generation: number;
}

/**
 * Issues a token and stores its hash in the table `kind`. Returns undefined if the password has changed since the
 * account was read, or the account is disabled or gone: no log-in with an old password outlives the change. Deletes the
 * oldest tokens beyond `TOKENS_MAX`; each concurrent log-in may leave one more, which the next log-in deletes.
 */
async function issueLoginToken(
  em: EntityManager,
  kind: 'refresh_tokens' | 'web_sessions' | 'password_resets',
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
  lifetimeHours: number,
): Promise<LoginToken | undefined> {
  const { token, hash } = newToken();
  const [issued] = await em.execute<{ generation: number }[]>(
    `with account as (
       select id, login_generation as generation from accounts
        where id = ? and active and password_hash = ? for share
     ), issued as (
       insert into ${kind} (hash, account_id, created_at, expires_at)
       select ?, id, now(), now() + make_interval(hours => ?) from account
       returning account_id
     ), old as (
       select t.hash from issued i
        cross join lateral (
          select o.hash from ${kind} o where o.account_id = i.account_id
           order by o.created_at desc offset ${TOKENS_MAX - 1} limit ${DELETED_TOKENS_MAX}) t
     ), ended as (
       delete from ${kind} where hash = any (array(
         select t.hash from ${kind} t where t.hash in (select hash from old) for update skip locked))
     )
     select generation from account`,
    [id, passwordHash, hash, lifetimeHours],
  );
  return issued && { token, ...issued };
}

const REFRESH_TOKEN_HOURS = 30 * 24;

/**
 * Issues a refresh token. Throws `invalid_credentials` if the password has changed since the account was read, or the
 * account is disabled or gone.
 */
export async function issueRefreshToken(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<LoginToken> {
  const loginToken = await issueLoginToken(em, 'refresh_tokens', account, REFRESH_TOKEN_HOURS);
  if (loginToken === undefined) throw new AppError('invalid_credentials');
  return loginToken;
}

/** The account of a refresh token, the time of the log-in, and the current generation of log-ins. */
type TokenOwner = Login & { accountId: string };

/**
 * Finds the account of a refresh token; undefined if the token is unknown, revoked or expired, or the account is
 * disabled.
 */
export async function ownerOfRefreshToken(em: EntityManager, token: string): Promise<TokenOwner | undefined> {
  const [owner] = await em.execute<TokenOwner[]>(
    `select a.id as "accountId", extract(epoch from t.created_at)::float8 as "loggedInAt",
            a.login_generation as generation
       from refresh_tokens t join accounts a on a.id = t.account_id
      where t.hash = ? and t.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return owner;
}

/** Revokes a refresh token, if it belongs to the account. */
export async function revokeRefreshToken(em: EntityManager, accountId: string, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token), account: accountId });
}

/** Lifetime of a browser session: a working day, so that people sign in once a day. */
const SESSION_HOURS = 8;

/**
 * Signs in a browser on the consent page. Returns the session's token; undefined if the password has changed since the
 * account was read, or the account is disabled or gone.
 */
export async function startWebSession(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<string | undefined> {
  const loginToken = await issueLoginToken(em, 'web_sessions', account, SESSION_HOURS);
  return loginToken?.token;
}

interface SignedInAccount {
  accountId: string;
  email: string;
}

/**
 * Finds the account that is signed in with this token; undefined for an unknown or expired token or a disabled account.
 */
export async function findWebSession(em: EntityManager, token: string): Promise<SignedInAccount | undefined> {
  const [found] = await em.execute<SignedInAccount[]>(
    `select a.id as "accountId", a.email from web_sessions s join accounts a on a.id = s.account_id
      where s.hash = ? and s.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

/** Signs out the browser with this token. Safe to repeat. */
export async function endWebSession(em: EntityManager, token: string): Promise<void> {
  await em.execute('delete from web_sessions where hash = ?', [hashKey(token)]);
}

/**
 * Issues the token of a password reset link; undefined if the password has changed since the account was read, or the
 * account is disabled or gone.
 */
export async function issuePasswordReset(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
  lifetimeHours: number,
): Promise<string | undefined> {
  const loginToken = await issueLoginToken(em, 'password_resets', account, lifetimeHours);
  return loginToken?.token;
}

/**
 * Finds the account of a password reset link; undefined if the link was used, has expired or never existed, or the
 * account is disabled. Reads link and password hash in one statement: between two, the link could be used, and the hash
 * would already be that of the new password.
 */
export async function findPasswordReset(
  em: EntityManager,
  token: string,
): Promise<Pick<Account, 'id' | 'email' | 'passwordHash'> | undefined> {
  const [found] = await em.execute<Pick<Account, 'id' | 'email' | 'passwordHash'>[]>(
    `select a.id, a.email, a.password_hash as "passwordHash" from password_resets r join accounts a on a.id = r.account_id
      where r.hash = ? and r.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

const NETWORK_DAYS = 90;

/**
 * Remembers for 90 days that the account logged in from the network with this hash. Writes at most once a day for each
 * network.
 */
export async function rememberNetwork(em: EntityManager, accountId: string, hash: Buffer): Promise<void> {
  await em.execute(
    `insert into login_networks as n (account_id, hash, expires_at)
     select a.id, ?, now() + make_interval(days => ?) from accounts a where a.id = ? and a.active for key share of a
     on conflict (account_id, hash) do update set expires_at = excluded.expires_at
       where n.expires_at < excluded.expires_at - interval '1 day'`,
    [hash, NETWORK_DAYS, accountId],
  );
}

/**
 * Reports whether the account with this e-mail address has logged in from the network with one of these hashes in the
 * last 90 days.
 */
export async function isKnownNetwork(
  em: EntityManager,
  emailKey: string,
  hashes: readonly Buffer[],
): Promise<boolean> {
  const networks = await em.execute<object[]>(
    `select from login_networks n join accounts a on a.id = n.account_id
      where a.email_key = ? and n.hash in (${hashes.map(() => '?').join()}) and n.expires_at > now()`,
    [emailKey, ...hashes],
  );
  return networks.length > 0;
}

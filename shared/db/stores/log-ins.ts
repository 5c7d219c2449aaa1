import type { EntityManager } from '@mikro-orm/postgresql';
import type { Login } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { type Account, RefreshToken } from '../entities/account.ts';

/** More than a person has devices and browsers. */
const TOKENS_MAX = 100;
const DELETED_TOKENS_MAX = 1000;

interface LoginToken {
  token: string;
  generation: number;
}

/**
 * Issues a token, and stores its hash in the table `kind`. Undefined if the account is disabled or gone, or its
 * password has changed since it was read, so that no log-in with an old password outlives the change. Deletes the
 * oldest tokens beyond `TOKENS_MAX`; each concurrent log-in may leave one more.
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

/** Throws `invalid_credentials` if the account is not active, or its password has changed since it was read. */
export async function issueRefreshToken(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<LoginToken> {
  const loginToken = await issueLoginToken(em, 'refresh_tokens', account, REFRESH_TOKEN_HOURS);
  if (loginToken === undefined) throw new AppError('invalid_credentials');
  return loginToken;
}

type TokenOwner = Login & { accountId: string };

/** Finds the owner of a valid refresh token; undefined if the account is disabled. */
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

export async function revokeRefreshToken(em: EntityManager, accountId: string, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token), account: accountId });
}

/** A working day, so that people sign in once a day. */
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

/** Finds the account that is signed in with this token; undefined if it is disabled. */
export async function findWebSession(em: EntityManager, token: string): Promise<SignedInAccount | undefined> {
  const [found] = await em.execute<SignedInAccount[]>(
    `select a.id as "accountId", a.email from web_sessions s join accounts a on a.id = s.account_id
      where s.hash = ? and s.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

export async function endWebSession(em: EntityManager, token: string): Promise<void> {
  await em.execute('delete from web_sessions where hash = ?', [hashKey(token)]);
}

/** Issues the token of a password reset link; undefined in the same cases as `startWebSession`. */
export async function issuePasswordReset(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
  lifetimeHours: number,
): Promise<string | undefined> {
  const loginToken = await issueLoginToken(em, 'password_resets', account, lifetimeHours);
  return loginToken?.token;
}

export type LinkOwner = Pick<Account, 'id' | 'email'> & { generation: number };

/**
 * Finds the account of a valid password reset link; undefined if the account is disabled. Reads the link and the
 * generation of log-ins in one statement: whatever ends the link later begins a new generation.
 */
export async function findPasswordReset(em: EntityManager, token: string): Promise<LinkOwner | undefined> {
  const [found] = await em.execute<LinkOwner[]>(
    `select a.id, a.email, a.login_generation as generation
       from password_resets r join accounts a on a.id = r.account_id
      where r.hash = ? and r.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

const NETWORK_DAYS = 90;

/** Remembers that the account logged in from the network with this hash. Writes at most once a day for each network. */
export async function rememberNetwork(em: EntityManager, accountId: string, hash: Buffer): Promise<void> {
  await em.execute(
    `insert into login_networks as n (account_id, hash, expires_at)
     select a.id, ?, now() + make_interval(days => ?) from accounts a where a.id = ? and a.active for key share of a
     on conflict (account_id, hash) do update set expires_at = excluded.expires_at
       where n.expires_at < excluded.expires_at - interval '1 day'`,
    [hash, NETWORK_DAYS, accountId],
  );
}

/** Reports whether the account has logged in from one of these networks in the last `NETWORK_DAYS` days. */
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

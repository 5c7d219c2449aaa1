import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Login } from '../../domain/account.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { type Account, PasswordReset, RefreshToken, WebSession } from '../entities/account.ts';

/** More than a person has devices and browsers. */
export const TOKENS_MAX = 100;
const DELETED_TOKENS_MAX = 1000;

const ENTITIES = { web_sessions: WebSession, password_resets: PasswordReset };

/**
 * A browser's session on our pages, or a one-time link to a new password; or a renewal of access tokens, or a new
 * address.
 */
type OwnedKind = keyof typeof ENTITIES;
type TokenKind = OwnedKind | 'refresh_tokens' | 'email_changes';

/** A working day of a session, so that people sign in once a day. */
const LIFETIME_HOURS: Record<TokenKind, number> = {
  refresh_tokens: 30 * 24,
  web_sessions: 8,
  password_resets: 1,
  email_changes: 1,
};

interface IssueOptions {
  lifetimeHours?: number;
  /** Values of further columns, by their names. */
  more?: Readonly<Record<string, unknown>>;
}

/**
 * Issues a token, and stores its hash in the table `kind`. Undefined if the account is disabled or gone, or its
 * password has changed since it was read, so that no log-in with an old password outlives the change. Deletes the
 * oldest tokens beyond `TOKENS_MAX`; each concurrent log-in may leave one more.
 */
export async function issueToken(
  em: EntityManager,
  kind: TokenKind,
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
  { lifetimeHours = LIFETIME_HOURS[kind], more = {} }: IssueOptions = {},
): Promise<{ token: string; generation: number } | undefined> {
  const { token, hash } = newToken();
  const columns = ['hash', 'account_id', 'created_at', 'expires_at', ...Object.keys(more)];
  const [issued] = await em.execute<{ generation: number }[]>(
    `with account as (
       select id, login_generation as generation from accounts
        where id = ? and active and password_hash = ? for share
     ), issued as (
       insert into ${kind} (${columns.join(', ')})
       select ?, id, now(), now() + make_interval(hours => ?)${', ?'.repeat(Object.keys(more).length)} from account
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
    [id, passwordHash, hash, lifetimeHours, ...Object.values(more)],
  );
  return issued && { token, ...issued };
}

/** Selects a token that has neither ended nor expired, of an account that is not disabled. */
export const isValid = (token: string) => ({
  hash: hashKey(token),
  expiresAt: { $gt: raw('now()') },
  account: { active: true },
});

export interface TokenOwner extends Omit<Login, 'id'> {
  accountId: string;
  email: string;
}

/**
 * Finds the account of a token; undefined if the token has ended or expired, or the account is disabled. Reads the token
 * and the generation of log-ins in one statement: whatever ends the token later begins a new generation.
 */
export async function ownerOfToken(
  em: EntityManager,
  kind: OwnedKind,
  token: string,
): Promise<TokenOwner | undefined> {
  // Both entities have the same properties.
  const entity = ENTITIES[kind] as typeof WebSession;
  const found = await em.findOne(entity, isValid(token), { populate: ['account'] });
  if (found === null) return undefined;
  const { id: accountId, email, loginGeneration: generation } = found.account;
  return { accountId, email, generation, loggedInAt: found.createdAt.getTime() / 1000 };
}

export async function revokeRefreshToken(em: EntityManager, accountId: string, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token), account: accountId });
}

export async function endRefreshToken(em: EntityManager, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token) });
}

export async function endWebSession(em: EntityManager, token: string): Promise<void> {
  await em.nativeDelete(WebSession, { hash: hashKey(token) });
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

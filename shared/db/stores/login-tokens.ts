import type { EntityManager } from '@mikro-orm/postgresql';
import { newToken } from '../../security/keys.ts';
import type { Account } from '../entities/account.ts';

/** How many tokens of a kind an account has at most: more devices and browsers than a person uses. */
const LOGINS_MAX = 100;
/** How many of an account with more are ended at a time. */
const ENDED_AT_ONCE = 1000;

/** A new token, and the generation of the account's log-ins that it belongs to. */
export interface LoginToken {
  token: string;
  generation: number;
}

/**
 * Issues a token of the kind to a caller who knew the password that the account had when it was read. Undefined when
 * the password has changed since, or the account is disabled or gone: no login by an old password survives its change.
 * Ends the oldest ones beyond `LOGINS_MAX`; logins at the same moment may leave one more each, until the next.
 */
export async function issueLoginToken(
  em: EntityManager,
  kind: 'refresh_tokens' | 'web_sessions',
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
           order by o.created_at desc offset ${LOGINS_MAX - 1} limit ${ENDED_AT_ONCE}) t
     ), ended as (
       delete from ${kind} where hash = any (array(
         select t.hash from ${kind} t where t.hash in (select hash from old) for update skip locked))
     )
     select generation from account`,
    [id, passwordHash, hash, lifetimeHours],
  );
  return issued && { token, ...issued };
}

import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { LOOPBACK_PORT, withoutLoopbackPort } from '../../../domain/resource.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newId } from '../../../ids.ts';
import type { ConsentScope } from '../../../schemas/connections.ts';
import { CODE_TTL_S } from '../../../schemas/limits.ts';
import { newToken } from '../../../security/keys.ts';
import { ConnectionAttempt } from '../../entities/connection.ts';

export interface NewAttempt {
  appId: string;
  userId: string;
  redirectUri: string;
  state: string;
  codeChallenge: string;
  ttlS: number;
}

/** Maximum number of an app's undecided connection attempts. Concurrent starts may exceed it by a few. */
const PENDING_MAX = 10_000;

/**
 * Throws `invalid_redirect_uri` unless the app has registered exactly this redirect URI (a native app: but for the port
 * of a loopback address), and `rate_limited` while
 * `PENDING_MAX` of its attempts are undecided.
 */
export async function startAttempt(
  em: EntityManager,
  attempt: NewAttempt,
): Promise<{ id: string; expiresAt: number }> {
  const { appId, userId, redirectUri, state, codeChallenge, ttlS } = attempt;
  const [outcome] = await em.execute<{ id: string | null; expiresAt: number; retryAfterS: number }[]>(
    `with app as (
       select id from apps
        where id = ? and (? = any (redirect_uris)
           or native and ? in (select regexp_replace(uri, ?, '\\1') from unnest(redirect_uris) uri))
     ), pending as (
       select count(*) as attempts, min(t.expires_at) as first_end from (
         select expires_at from connection_attempts
          where app_id = ? and status = 'pending' and expires_at > now() order by expires_at limit ${PENDING_MAX}) t
     ), started as (
       insert into connection_attempts
              (id, app_id, user_id, redirect_uri, state, code_challenge, created_at, expires_at)
       select ?, a.id, ?, ?, ?, ?, now(), window_end(?) from app a, pending p where p.attempts < ${PENDING_MAX}
       returning id, expires_at
     )
     select s.id, extract(epoch from s.expires_at)::float8 as "expiresAt",
            extract(epoch from p.first_end - now())::float8 as "retryAfterS"
       from app cross join pending p left join started s on true`,
    [
      appId,
      redirectUri,
      withoutLoopbackPort(redirectUri),
      LOOPBACK_PORT,
      appId,
      newId(),
      userId,
      redirectUri,
      state,
      codeChallenge,
      ttlS,
    ],
  );
  if (outcome === undefined) throw new AppError('invalid_redirect_uri');
  const { id, expiresAt, retryAfterS } = outcome;
  if (id === null) throw new AppError('rate_limited', { retryAfterS });
  return { id, expiresAt };
}

/** `standing` says whether the person can still decide, by the database's clock. */
export interface AttemptView {
  id: string;
  appId: string;
  appName: string;
  userId: string;
  redirectUri: string;
  /** Opaque value of the app, which is returned to it in the redirect. */
  state: string;
  standing: 'open' | 'expired' | 'used';
}

/** Undefined if there is no attempt with this id, or its app is not active. */
export async function findAttempt(em: EntityManager, id: string): Promise<AttemptView | undefined> {
  const [found] = await em.execute<AttemptView[]>(
    `select t.id, t.app_id as "appId", a.name as "appName", t.user_id as "userId", t.redirect_uri as "redirectUri",
            t.state, case when t.status <> 'pending' then 'used' when t.expires_at <= now() then 'expired' else 'open' end
            as standing
       from connection_attempts t join apps a on a.id = t.app_id
      where t.id = ? and a.active`,
    [id],
  );
  return found;
}

/** What the person allows: of memory, in names of projects, and for how many days; null: until it is revoked. */
export interface Consent extends ConsentScope {
  days: number | null;
}

/**
 * Returns the code for the app to exchange, which is stored only as a hash; undefined if the attempt was decided before
 * or has expired, or the account is gone or disabled. Locks the account, so that disabling it waits.
 */
export async function approveAttempt(
  em: EntityManager,
  id: string,
  accountId: string,
  { memory, projects, days }: Consent = { memory: 'all', days: null },
): Promise<string | undefined> {
  const { token, hash } = newToken();
  const approvedRows = await em.execute<object[]>(
    `with approver as materialized (
       select a.id from accounts a where a.id = ? and a.active for share
     )
     update connection_attempts t
        set status = 'approved', account_id = a.id, code_hash = ?, code_expires_at = now() + make_interval(secs => ?),
            memory = ?, projects = nullif(array[?]::text[], '{}'), ends_at = now() + make_interval(days => ?)
       from approver a where t.id = ? and t.status = 'pending' and t.expires_at > now()
     returning t.id`,
    [accountId, hash, CODE_TTL_S, memory, projects ?? [], days, id],
  );
  return approvedRows.length === 1 ? token : undefined;
}

/** Returns false if the attempt was decided before or has expired. */
export async function denyAttempt(em: EntityManager, id: string): Promise<boolean> {
  const pending = { id, status: 'pending', expiresAt: { $gt: raw('now()') } } as const;
  return (await em.nativeUpdate(ConnectionAttempt, pending, { status: 'denied' })) === 1;
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../../ids.ts';
import { CODE_TTL_S } from '../../../schemas/limits.ts';
import { newToken } from '../../../security/keys.ts';

export interface NewAttempt {
  appId: string;
  userId: string;
  redirectUri: string;
  state: string;
  codeChallenge: string;
  ttlS: number;
}

/** Starts an attempt. Returns undefined when the redirect URI is none of the app's, character for character. */
export async function startAttempt(
  em: EntityManager,
  attempt: NewAttempt,
): Promise<{ id: string; expiresAt: number } | undefined> {
  const { appId, userId, redirectUri, state, codeChallenge, ttlS } = attempt;
  const [started] = await em.execute<{ id: string; expiresAt: number }[]>(
    `insert into connection_attempts (id, app_id, user_id, redirect_uri, state, code_challenge, created_at, expires_at)
     select ?, a.id, ?, ?, ?, ?, now(), window_end(?) from apps a where a.id = ? and ? = any (a.redirect_uris)
     returning id, extract(epoch from expires_at)::float8 as "expiresAt"`,
    [newId(), userId, redirectUri, state, codeChallenge, ttlS, appId, redirectUri],
  );
  return started;
}

/** What the page needs to know of an attempt. `standing` tells by the database's clock whether it can be decided. */
export interface AttemptView {
  id: string;
  appId: string;
  appName: string;
  userId: string;
  redirectUri: string;
  /** The app's, to be given back to it. */
  state: string;
  standing: 'open' | 'expired' | 'used';
}

/** The attempt of an active app; undefined when the id is none. */
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

/**
 * The account agrees: the code that the app exchanges, told this once. Undefined when somebody decided before, the
 * time is over or the account is gone.
 */
export async function approveAttempt(
  em: EntityManager,
  id: string,
  accountId: string,
): Promise<string | undefined> {
  const { token, hash } = newToken();
  const approved = await em.execute<object[]>(
    `with approver as materialized (
       select a.id from accounts a where a.id = ? and a.active for key share
     )
     update connection_attempts t
        set status = 'approved', account_id = a.id, code_hash = ?, code_expires_at = now() + make_interval(secs => ?)
       from approver a where t.id = ? and t.status = 'pending' and t.expires_at > now()
     returning t.id`,
    [accountId, hash, CODE_TTL_S, id],
  );
  return approved.length === 1 ? token : undefined;
}

/** The person refuses. False when somebody decided before or the time is over. */
export async function denyAttempt(em: EntityManager, id: string): Promise<boolean> {
  const denied = await em.execute<object[]>(
    `update connection_attempts set status = 'denied'
      where id = ? and status = 'pending' and expires_at > now() returning id`,
    [id],
  );
  return denied.length === 1;
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { newToken } from '../../security/keys.ts';
import type { Account } from '../entities/account.ts';

/**
 * A new token of the kind, for whoever proved to know the password that the account had when it was read. Undefined when
 * it has another one by now, or is disabled or gone: a change of the password leaves nothing of the old one behind.
 */
export async function issueLoginToken(
  em: EntityManager,
  kind: 'refresh_tokens' | 'web_sessions',
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
  lifetimeHours: number,
): Promise<string | undefined> {
  const { token, hash } = newToken();
  const issued = await em.execute<object[]>(
    `insert into ${kind} (hash, account_id, created_at, expires_at)
     select ?, a.id, now(), now() + make_interval(hours => ?)
       from accounts a where a.id = ? and a.active and a.password_hash = ? for share of a
     returning 1`,
    [hash, lifetimeHours, id, passwordHash],
  );
  return issued.length === 1 ? token : undefined;
}

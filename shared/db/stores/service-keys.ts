import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { quotaExceeded, requireCurrent, requireLogin, type UserPrincipal } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import type { Scope } from '../../schemas/accounts.ts';
import { KEYS_MAX } from '../../schemas/limits.ts';
import { newServiceKey } from '../../security/keys.ts';
import { ServiceKey } from '../entities/account.ts';
import { query } from '../statement.ts';
import { transaction } from '../transaction.ts';

const BY_KEY = {
  name: 'accounts_by_key_v2',
  text: `select encode(k.hash, 'hex') as hash, a.id, k.scopes
           from service_keys k join accounts a on a.id = k.account_id
          where k.hash = any ($1::bytea[]) and a.active`,
};

/** The active accounts whose keys have these SHA-256 hashes, in the same order; undefined where there is none. */
export async function findUsersByKey(pool: Pool, hashes: Buffer[]): Promise<(UserPrincipal | undefined)[]> {
  const rows = await query<{ hash: string; id: string; scopes: Scope[] | null }>(pool, BY_KEY, [hashes]);
  const byHash = new Map(rows.map(({ hash, id, scopes }) => [hash, { id, ...(scopes && { scopes }) }]));
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

const USED = {
  name: 'keys_used_v1',
  text: `update service_keys set last_used_at = now() where hash = any ($1::bytea[])`,
};

/** Records that the keys with these hashes were used. */
export async function markKeysUsed(pool: Pool, hashes: Buffer[]): Promise<undefined[]> {
  await query(pool, USED, [hashes]);
  return hashes.map(() => undefined);
}

/** At most `limit` of the account's keys, newest first: those issued before the one with the id `before`, if given. */
export async function listServiceKeys(
  em: EntityManager,
  accountId: string,
  { limit, before }: { limit: number; before: string | undefined },
): Promise<ServiceKey[]> {
  const older = before === undefined ? {} : { id: { $lt: before } };
  return em.find(ServiceKey, { account: accountId, ...older }, { orderBy: { id: 'desc' }, limit });
}

/** One of the account's keys; undefined when there is none with this id, or it is another account's. */
export async function findServiceKey(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<ServiceKey | undefined> {
  return (await em.findOne(ServiceKey, { id, account: accountId })) ?? undefined;
}

/**
 * Issues a key to a log-in. Only its hash is stored. Throws `not_authenticated` when the account was erased or disabled
 * meanwhile, `token_expired` when the log-in was ended, which the key would outlive, and `quota_exceeded` when the account
 * has as many as it may.
 */
export function issueServiceKey(
  em: EntityManager,
  user: UserPrincipal,
  { label, scopes }: Pick<ServiceKey, 'label' | 'scopes'>,
): Promise<{ id: string; key: string; createdAt: Date }> {
  const { key, hash, prefix } = newServiceKey();
  const { id: accountId } = user;
  return transaction(em, async (tx) => {
    // Another issue of a key of the account at the same time waits here, then counts this one.
    const [held] = await tx.execute<{ generation: number }[]>(
      `select login_generation as generation from accounts where id = ? and active for no key update`,
      [accountId],
    );
    if (held === undefined) throw new AppError('not_authenticated');
    requireCurrent(requireLogin(user), held.generation);
    const used = await tx.count(ServiceKey, { account: accountId });
    if (used >= KEYS_MAX) throw quotaExceeded([{ resource: 'keys', used, added: 1, quota: KEYS_MAX }]);
    const createdAt = new Date();
    const id = newId();
    await tx.insert(ServiceKey, { id, account: accountId, hash, prefix, label, scopes, createdAt });
    return { id, key, createdAt };
  });
}

/** Revokes every key of the account, within the caller's transaction. */
export async function revokeServiceKeys(tx: EntityManager, accountId: string): Promise<void> {
  await tx.nativeDelete(ServiceKey, { account: accountId });
}

/** Revokes one of the account's keys. Throws `not_found` when it has none of that id. */
export async function revokeServiceKey(em: EntityManager, accountId: string, id: string): Promise<void> {
  const revoked = await em.nativeDelete(ServiceKey, { id, account: accountId });
  if (revoked === 0) throw new AppError('not_found');
}

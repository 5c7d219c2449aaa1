import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { quotaError, requireCurrentLogin, requireLogin, type UserPrincipal } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import type { Scope } from '../../schemas/accounts.ts';
import { KEYS_MAX } from '../../schemas/limits.ts';
import { newServiceKey } from '../../security/keys.ts';
import { ServiceKey } from '../entities/account.ts';
import { query, transaction } from '../statement.ts';

const ACCOUNTS_BY_KEY = {
  name: 'accounts_by_key_v1',
  text: `select encode(k.hash, 'hex') as hash, a.id, k.id as "keyId", k.scopes,
                 coalesce(greatest(a.threshold_floor, k.threshold_floor), 0) as "thresholdFloor"
           from service_keys k join accounts a on a.id = k.account_id
          where k.hash = any ($1::bytea[]) and a.active`,
};

interface KeyRow {
  hash: string;
  id: string;
  keyId: string;
  scopes: Scope[] | null;
  thresholdFloor: number;
}

/** Finds active accounts by the SHA-256 hashes of their keys, in the same order; undefined for an unknown hash. */
export async function findAccountsByKey(
  pool: Pool,
  hashes: Buffer[],
): Promise<(UserPrincipal | undefined)[]> {
  const rows = await query<KeyRow>(pool, ACCOUNTS_BY_KEY, [hashes]);
  const byHash = new Map(
    rows.map(({ hash, scopes, ...user }) => [hash, { ...user, ...(scopes && { scopes }) }]),
  );
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

export async function markKeysUsed(em: EntityManager, hashes: Buffer[]): Promise<undefined[]> {
  await em.nativeUpdate(ServiceKey, { hash: { $in: hashes } }, { lastUsedAt: raw('now()') });
  return hashes.map(() => undefined);
}

/** Newest first; with `before`, only keys issued before the key with that id. */
export async function listServiceKeys(
  em: EntityManager,
  accountId: string,
  { limit, before }: { limit: number; before: string | undefined },
): Promise<ServiceKey[]> {
  const older = before === undefined ? {} : { id: { $lt: before } };
  return em.find(ServiceKey, { account: accountId, ...older }, { orderBy: { id: 'desc' }, limit });
}

/**
 * Issues a key, of which only a hash is stored. Throws `access_denied` if the caller used a key, `not_authenticated` if
 * the account has been erased or disabled meanwhile, `token_expired` if the log-in has been ended, and
 * `quota_exceeded`.
 */
export function issueServiceKey(
  em: EntityManager,
  user: UserPrincipal,
  { label, scopes, thresholdFloor }: Pick<ServiceKey, 'label' | 'scopes' | 'thresholdFloor'>,
): Promise<{ id: string; key: string; createdAt: Date }> {
  const { key, hash, prefix } = newServiceKey();
  const { id: accountId } = user;
  return transaction(em, async (tx) => {
    // Locks the account. A concurrent call for the account waits here, and then counts this key.
    const [account] = await tx.execute<{ generation: number }[]>(
      `select login_generation as generation from accounts where id = ? and active for no key update`,
      [accountId],
    );
    if (account === undefined) throw new AppError('not_authenticated');
    requireCurrentLogin(requireLogin(user), account.generation);
    const keyCount = await tx.count(ServiceKey, { account: accountId });
    if (keyCount >= KEYS_MAX)
      throw quotaError([{ resource: 'keys', used: keyCount, added: 1, quota: KEYS_MAX }]);
    const createdAt = new Date();
    const id = newId();
    const stored = { id, account: accountId, hash, prefix, label, scopes, thresholdFloor, createdAt };
    await tx.insert(ServiceKey, stored);
    return { id, key, createdAt };
  });
}

export async function revokeServiceKeys(tx: EntityManager, accountId: string): Promise<void> {
  await tx.nativeDelete(ServiceKey, { account: accountId });
}

/** Throws `not_found` if the account has no such key. */
export async function revokeServiceKey(em: EntityManager, accountId: string, id: string): Promise<void> {
  const deletedCount = await em.nativeDelete(ServiceKey, { id, account: accountId });
  if (deletedCount === 0) throw new AppError('not_found');
}

import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { quotaError, requireLogin, type UserPrincipal } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import type { KeyYield, Scope } from '../../schemas/accounts.ts';
import { KEYS_MAX } from '../../schemas/limits.ts';
import { newServiceKey } from '../../security/keys.ts';
import { ServiceKey } from '../entities/account.ts';
import { Grant, GrantCode } from '../entities/grant.ts';
import { Passkey } from '../entities/passkey.ts';
import { query, transaction } from '../statement.ts';
import { lockLogIns } from './own-log-ins.ts';

const ACCOUNTS_BY_KEY = {
  name: 'accounts_by_key_v1',
  text: `select encode(k.hash, 'hex') as hash, a.id, k.id as "keyId", k.scopes,
                 coalesce(greatest(a.threshold_floor, k.threshold_floor), 0) as "thresholdFloor"
           from service_keys k join accounts a on a.id = k.account_id
          where k.hash = any ($1::bytea[]) and a.active and (k.expires_at is null or k.expires_at > now())`,
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
 * Counts by indexes of their own, so that an account with many rows is no slower than what its keys brought. Reads each
 * table once for all keys: one count for each key is twenty times as slow until the table has been analysed.
 */
export async function countBrought(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, KeyYield>> {
  if (ids.length === 0) return new Map();
  const rows = await em.execute<(KeyYield & { id: string })[]>(
    `select k.id,
            coalesce(r.count, 0)::int as messages,
            coalesce(p.count, 0)::int as predictions,
            coalesce(d.count, 0)::int as permissions,
            coalesce(f.count, 0)::int as decisions
       from unnest(array[?]::uuid[]) k (id)
       left join (select witness, count(*) from raw_memories
                   where account_id = ? and witness not in ('login', 'import') group by witness) r
         on r.witness = k.id::text
       left join (select key_id, count(*) from replies
                   where account_id = ? and key_id is not null group by key_id) p on p.key_id = k.id
       left join (select key_id, count(*) from permission_decisions
                   where account_id = ? and key_id is not null group by key_id) d on d.key_id = k.id
       left join (select feedback_witness, count(*) from replies
                   where account_id = ? and feedback_witness not in ('login', 'recorded')
                   group by feedback_witness) f
         on f.feedback_witness = k.id::text`,
    [ids, accountId, accountId, accountId, accountId],
  );
  return new Map(rows.map(({ id, ...brought }) => [id, brought]));
}

/**
 * Issues a key, of which only a hash is stored. Throws `access_denied` if the caller used a key, `not_authenticated` if
 * the account has been erased or disabled meanwhile, `token_expired` if the log-in has been ended, and
 * `quota_exceeded`.
 */
export function issueServiceKey(
  em: EntityManager,
  user: UserPrincipal,
  asked: Pick<ServiceKey, 'label' | 'scopes' | 'thresholdFloor' | 'expiresAt'>,
): Promise<{ id: string; key: string; createdAt: Date }> {
  const { key, hash, prefix } = newServiceKey();
  const { id: accountId } = user;
  return transaction(em, async (tx) => {
    // A concurrent call for the account waits here, and then counts this key.
    await lockLogIns(tx, accountId, requireLogin(user));
    const keyCount = await tx.count(ServiceKey, { account: accountId });
    if (keyCount >= KEYS_MAX)
      throw quotaError([{ resource: 'keys', used: keyCount, added: 1, quota: KEYS_MAX }]);
    const createdAt = new Date();
    const id = newId();
    await tx.insert(ServiceKey, { ...asked, id, account: accountId, hash, prefix, createdAt });
    return { id, key, createdAt };
  });
}

/** Revokes the account's keys and passkeys, and what it has allowed programs: all that works without the password. */
export async function revokeServiceKeys(tx: EntityManager, accountId: string): Promise<void> {
  await tx.nativeDelete(ServiceKey, { account: accountId });
  await tx.nativeDelete(Passkey, { account: accountId });
  await tx.nativeDelete(Grant, { account: accountId });
  await tx.nativeDelete(GrantCode, { account: accountId });
}

/** Throws `not_found` if the account has no such key. */
export async function revokeServiceKey(em: EntityManager, accountId: string, id: string): Promise<void> {
  const deletedCount = await em.nativeDelete(ServiceKey, { id, account: accountId });
  if (deletedCount === 0) throw new AppError('not_found');
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { UserPrincipal } from '../../domain/account.ts';
import { newId } from '../../ids.ts';
import { newServiceKey } from '../../security/keys.ts';
import { ServiceKey } from '../entities/account.ts';
import { query } from '../statement.ts';

const BY_KEY = {
  name: 'accounts_by_key_v1',
  text: `select encode(k.hash, 'hex') as hash, a.id
           from service_keys k join accounts a on a.id = k.account_id
          where k.hash = any ($1::bytea[]) and a.active`,
};

/** The accounts whose keys have these SHA-256 hashes and that are not disabled, in their order. */
export async function findUsersByKey(pool: Pool, hashes: Buffer[]): Promise<(UserPrincipal | undefined)[]> {
  const rows = await query<UserPrincipal & { hash: string }>(pool, BY_KEY, [hashes]);
  const byHash = new Map(rows.map(({ hash, ...user }) => [hash, user]));
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

const USED = {
  name: 'keys_used_v1',
  text: `update service_keys set last_used_at = now() where hash = any ($1::bytea[])`,
};

/** Writes down that the keys with these hashes were used. */
export async function markKeysUsed(pool: Pool, hashes: Buffer[]): Promise<undefined[]> {
  await query(pool, USED, [hashes]);
  return hashes.map(() => undefined);
}

/** The account's keys, the newest first. */
export async function listServiceKeys(em: EntityManager, accountId: string): Promise<ServiceKey[]> {
  return em.find(ServiceKey, { account: accountId }, { orderBy: { id: 'desc' } });
}

/** One of the account's keys; undefined when the id is none, or another account's. */
export async function findServiceKey(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<ServiceKey | undefined> {
  return (await em.findOne(ServiceKey, { id, account: accountId })) ?? undefined;
}

/** Issues a key; it is in the answer only, its hash is stored. Undefined when the account was erased or disabled meanwhile. */
export async function issueServiceKey(
  em: EntityManager,
  accountId: string,
  label: string,
): Promise<{ id: string; key: string; createdAt: Date } | undefined> {
  const { key, hash, prefix } = newServiceKey();
  const id = newId();
  const createdAt = new Date();
  const issued = await em.execute<object[]>(
    `insert into service_keys (id, account_id, hash, prefix, label, created_at)
     select ?, a.id, ?, ?, ?, ? from accounts a where a.id = ? and a.active for key share of a
     returning 1`,
    [id, hash, prefix, label, createdAt, accountId],
  );
  return issued.length === 1 ? { id, key, createdAt } : undefined;
}

/** Revokes one of the account's keys. False when the id is none, or another account's. */
export async function revokeServiceKey(em: EntityManager, accountId: string, id: string): Promise<boolean> {
  return (await em.nativeDelete(ServiceKey, { id, account: accountId })) === 1;
}

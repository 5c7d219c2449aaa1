import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { UserPrincipal } from '../../domain/account.ts';
import { newId } from '../../ids.ts';
import { Account } from '../entities/account.ts';
import { query } from '../statement.ts';

const BY_ID = {
  name: 'accounts_by_id_v1',
  text: `select id from accounts where id = any ($1::uuid[]) and active`,
};

/** The accounts with these ids that are not disabled, in their order; undefined where there is none. */
export async function findUsers(pool: Pool, ids: string[]): Promise<(UserPrincipal | undefined)[]> {
  const rows = await query<UserPrincipal>(pool, BY_ID, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

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

/** The form in which e-mail addresses are compared. */
export function emailKey(email: string): string {
  return email.normalize('NFC').trim().toLowerCase();
}

/** The account of an e-mail address, also a disabled one. */
export async function findByEmail(em: EntityManager, email: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { emailKey: emailKey(email) })) ?? undefined;
}

export interface NewAccount {
  email: string;
  name: string;
  passwordHash: string;
}

/** Makes an account. Throws the unique constraint's error when the e-mail address is taken. */
export async function createAccount(
  em: EntityManager,
  { email, name, passwordHash }: NewAccount,
): Promise<Account> {
  const now = new Date();
  const account = em.create(Account, {
    id: newId(),
    email: email.normalize('NFC').trim(),
    emailKey: emailKey(email),
    name,
    passwordHash,
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  return account;
}

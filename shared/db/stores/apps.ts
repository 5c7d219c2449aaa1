import { randomBytes } from 'node:crypto';
import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { AppPrincipal } from '../../domain/app.ts';
import { newId } from '../../ids.ts';
import { hashKey, newAppKey } from '../../security/keys.ts';
import { App, AppKey } from '../entities/app.ts';
import { Webhook } from '../entities/webhook.ts';
import { query, transaction } from '../statement.ts';

const FIND_BY_KEY = {
  name: 'app_by_key_v2',
  text: `
    select encode(k.hash, 'hex') as hash, a.id, a.fingerprint_key as "fingerprintKey",
           a.on_disconnect as "onDisconnect", a.min_confidence as "minConfidence",
           a.disabled || a.switched_off as disabled
      from app_keys k join apps a on a.id = k.app_id left join accounts o on o.id = a.owner_id
     where k.hash = any ($1::bytea[]) and a.active and o.active is not false and (k.expires_at is null or k.expires_at > now())`,
};

/**
 * Finds active apps by the SHA-256 hashes of their valid keys, in the same order; undefined for any other hash. Callers
 * may cache the answer for a second, because a revoked key only has to stop working within two seconds.
 */
export async function findAppsByKey(pool: Pool, hashes: Buffer[]): Promise<(AppPrincipal | undefined)[]> {
  const rows = await query<AppPrincipal & { hash: string }>(pool, FIND_BY_KEY, [hashes]);
  const byHash = new Map(rows.map(({ hash, ...app }) => [hash, app]));
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

export interface NewApp {
  /** A new id by default. */
  id?: string;
  name: string;
  redirectUris: string[];
  plan: App['plan'];
  capCents: number | null;
  native?: boolean;
  /** Id of the account that makes it; an operator's by default. */
  owner?: string;
}

/** Only a hash of the app's first key is stored, so the key cannot be read again. */
export function createApp(em: EntityManager, app: NewApp): Promise<{ appId: string; key: string }> {
  return transaction(em, (tx) => insertApp(tx, app));
}

export async function insertApp(tx: EntityManager, app: NewApp): Promise<{ appId: string; key: string }> {
  const now = new Date();
  const row = tx.create(App, {
    id: newId(),
    ...app,
    disabled: [],
    switchedOff: [],
    fingerprintKey: randomBytes(32),
    createdAt: now,
    updatedAt: now,
  });
  const key = issueKey(tx, row, now);
  await tx.flush();
  return { appId: row.id, key };
}

export async function listApps(em: EntityManager): Promise<App[]> {
  return em.find(App, {}, { orderBy: { id: 'asc' } });
}

export async function findApp(em: EntityManager, id: string): Promise<App | undefined> {
  return (await em.findOne(App, { id })) ?? undefined;
}

type FixedColumn = 'id' | 'disabled' | 'owner' | 'fingerprintKey' | 'createdAt' | 'updatedAt';

/** Undefined fields stay as they are. */
export interface AppChange extends Partial<Omit<App, FixedColumn>> {
  /** Features to turn on and off. All others stay as they are. */
  enable?: readonly string[];
  disable?: readonly string[];
}

/** Each ingress notices the change within a second. Returns undefined if no app has this id. */
export async function updateApp(
  em: EntityManager,
  id: string,
  { enable = [], disable = [], ...fields }: AppChange,
): Promise<App | undefined> {
  return transaction(em, async (tx) => {
    const app = await lockApp(tx, id);
    if (app === undefined) return undefined;
    const disabledFeatures = [...new Set([...app.disabled, ...disable])].filter(
      (name) => !enable.includes(name),
    );
    return tx.assign(
      app,
      { ...fields, disabled: disabledFeatures, updatedAt: new Date() },
      { ignoreUndefined: true },
    );
  });
}

/** Names that remain of apps that nobody has any more, in the lists of people who were connected. */
const RETIRED_NAME = 'A deleted app';

/**
 * Ends apps for good, in the caller's transaction: their keys stop working, their webhooks are deleted, and nobody has
 * them. Their rows stay, since usage and connections refer to them. Returns their number.
 */
export async function retireApps(tx: EntityManager, where: { owner: string; id?: string }): Promise<number> {
  const apps = await tx.find(App, where, { fields: ['id'] });
  await tx.nativeDelete(Webhook, { app: { $in: apps.map(({ id }) => id) } });
  const retired = {
    active: false,
    owner: null,
    name: RETIRED_NAME,
    redirectUris: [],
    updatedAt: raw('now()'),
  };
  return tx.nativeUpdate(App, where, retired);
}

export async function deleteKey(em: EntityManager, key: string): Promise<void> {
  await em.nativeDelete(AppKey, { hash: hashKey(key) });
}

/** Lists the app's keys, oldest first, including expired and revoked ones. */
export async function listKeys(em: EntityManager, appId: string): Promise<AppKey[]> {
  return em.find(AppKey, { app: appId }, { orderBy: { id: 'asc' } });
}

/** Issues a new key; undefined if there is no such app. Earlier keys stop working after `graceS` seconds. */
export async function rotateKey(
  em: EntityManager,
  appId: string,
  graceS: number,
): Promise<string | undefined> {
  return transaction(em, async (tx) => {
    const app = await lockApp(tx, appId);
    if (app === undefined) return undefined;
    const key = issueKey(tx, app, new Date());
    const expiresAt = raw('least(expires_at, now() + make_interval(secs => ?))', [graceS]);
    await tx.nativeUpdate(AppKey, { app: appId }, { expiresAt });
    await tx.flush();
    return key;
  });
}

/** Revokes the app's valid keys with this stored prefix. Returns their number. */
export async function revokeKeys(em: EntityManager, appId: string, prefix: string): Promise<number> {
  const now = raw('now()');
  return em.nativeUpdate(
    AppKey,
    { app: appId, prefix, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] },
    { expiresAt: now },
  );
}

/** Locks the app's row: of two concurrent rotations, the later one decides which key stays valid. */
async function lockApp(em: EntityManager, id: string): Promise<App | undefined> {
  return (await em.findOne(App, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? undefined;
}

function issueKey(em: EntityManager, app: App, createdAt: Date): string {
  const { key, hash, prefix } = newAppKey();
  em.create(AppKey, { id: newId(), app, hash, prefix, createdAt });
  return key;
}

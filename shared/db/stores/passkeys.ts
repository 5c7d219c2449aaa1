import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { type Login, quotaError } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { PASSKEYS_MAX } from '../../schemas/limits.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Passkey, PasskeyChallenge } from '../entities/passkey.ts';
import { unlessTaken } from '../faults.ts';
import { transaction } from '../statement.ts';
import { lockLogIns } from './own-log-ins.ts';

const CHALLENGE_MINUTES = 5;

/** Without an account, a challenge to log in. */
export async function issueChallenge(em: EntityManager, accountId: string | null): Promise<string> {
  const { token, hash } = newToken();
  const expiresAt = raw('now() + make_interval(mins => ?)', [CHALLENGE_MINUTES]);
  await em.insert(PasskeyChallenge, { hash, account: accountId, expiresAt });
  return token;
}

/** Uses a challenge up. Returns false if there is none, or it has expired or belongs to another account. */
export async function takeChallenge(
  em: EntityManager,
  challenge: string,
  accountId: string | null,
): Promise<boolean> {
  const valid = { hash: hashKey(challenge), account: accountId, expiresAt: { $gt: raw('now()') } };
  return (await em.nativeDelete(PasskeyChallenge, valid)) > 0;
}

export function listPasskeys(em: EntityManager, accountId: string): Promise<Passkey[]> {
  return em.find(Passkey, { account: accountId }, { orderBy: { id: 'asc' } });
}

export type NewPasskey = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name' | 'backedUp'
>;

/**
 * Throws what `lockLogIns` throws, `quota_exceeded`, and `access_denied` for a passkey that an account has already.
 */
export function addPasskey(
  em: EntityManager,
  accountId: string,
  caller: Login,
  passkey: NewPasskey,
): Promise<Passkey> {
  return transaction(em, async (tx) => {
    await lockLogIns(tx, accountId, caller);
    const used = await tx.count(Passkey, { account: accountId });
    if (used >= PASSKEYS_MAX)
      throw quotaError([{ resource: 'passkeys', used, added: 1, quota: PASSKEYS_MAX }]);
    const id = newId();
    const row = { ...passkey, id, account: accountId, createdAt: new Date() };
    await unlessTaken('access_denied', () => tx.insert(Passkey, row));
    return tx.findOneOrFail(Passkey, { id });
  });
}

/** Finds a passkey of an active account. */
export async function findPasskey(em: EntityManager, credentialId: string) {
  const ofActive = { credentialId, account: { active: true } };
  return (await em.findOne(Passkey, ofActive, { populate: ['account'] })) ?? undefined;
}

/** Notes a log-in. Returns false if the passkey is gone, or another log-in has used it meanwhile. */
export async function notePasskeyUse(
  em: EntityManager,
  { id, counter }: Pick<Passkey, 'id' | 'counter'>,
  used: Pick<Passkey, 'counter' | 'backedUp'>,
): Promise<boolean> {
  return (await em.nativeUpdate(Passkey, { id, counter }, { ...used, lastUsedAt: raw('now()') })) > 0;
}

/** Throws `not_found`. */
export async function renamePasskey(
  em: EntityManager,
  accountId: string,
  id: string,
  name: string,
): Promise<Passkey> {
  await em.nativeUpdate(Passkey, { id, account: accountId }, { name });
  return em.findOneOrFail(Passkey, { id, account: accountId });
}

/** Throws `not_found`. */
export async function removePasskey(em: EntityManager, accountId: string, id: string): Promise<void> {
  if ((await em.nativeDelete(Passkey, { id, account: accountId })) === 0) throw new AppError('not_found');
}

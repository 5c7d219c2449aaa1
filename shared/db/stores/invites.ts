import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../ids.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Invite } from '../entities/account.ts';

/** A new invitation. Its code is in the answer only. */
export async function createInvite(em: EntityManager): Promise<string> {
  const { token, hash } = newToken();
  await em.insert(Invite, { id: newId(), hash, createdAt: new Date() });
  return token;
}

/** Whether the code is an invitation that nobody has used. */
export async function isInvite(em: EntityManager, code: string): Promise<boolean> {
  return (await em.count(Invite, { hash: hashKey(code), usedAt: null })) === 1;
}

/** Uses an invitation up, within the caller's transaction. False for who comes second, and for an unknown code. */
export async function useInvite(tx: EntityManager, code: string): Promise<boolean> {
  const used = await tx.nativeUpdate(Invite, { hash: hashKey(code), usedAt: null }, { usedAt: new Date() });
  return used === 1;
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Invite } from '../entities/account.ts';

/** Creates an invitation. Its code is only returned here; its hash is stored. */
export async function createInvite(em: EntityManager): Promise<string> {
  const { token, hash } = newToken();
  await em.insert(Invite, { id: newId(), hash, createdAt: new Date() });
  return token;
}

/** Whether the code is an unused invitation. */
export async function isInvite(em: EntityManager, code: string): Promise<boolean> {
  return (await em.count(Invite, { hash: hashKey(code), usedAt: null })) === 1;
}

/** Uses an invitation up, within the caller's transaction. Throws `invite_required` if it is unknown or used. */
export async function useInvite(tx: EntityManager, code: string): Promise<void> {
  const used = await tx.nativeUpdate(Invite, { hash: hashKey(code), usedAt: null }, { usedAt: new Date() });
  if (used === 0) throw new AppError('invite_required');
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { RawValues } from '../../../domain/memory-rows.ts';
import { newIds } from '../../../ids.ts';
import { RawMemory } from '../../entities/memory/raw.ts';
import { changeMemory } from './change.ts';

/** Stores raw rows, all or none. */
export function addRaw(em: EntityManager, accountId: string, rows: RawValues[]): Promise<RawMemory[]> {
  const createdAt = new Date();
  const ids = newIds(rows.length);
  return changeMemory(em, accountId, async (tx) => {
    const added = rows.map((row, place) =>
      tx.create(RawMemory, { ...row, id: ids[place], account: accountId, createdAt }),
    );
    await tx.flush();
    return added;
  });
}

/** One of the account's raw rows. */
export async function findRaw(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<RawMemory | undefined> {
  return (await em.findOne(RawMemory, { id, account: accountId })) ?? undefined;
}

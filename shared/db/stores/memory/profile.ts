import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { Profile } from '../../entities/memory/profile.ts';
import { changeMemory } from './change.ts';

export async function findProfile(em: EntityManager, accountId: string): Promise<Profile | undefined> {
  return (await em.findOne(Profile, { account: accountId })) ?? undefined;
}

/** Replaces what is given, in a new profile if there is none. */
export function writeProfile(
  em: EntityManager,
  accountId: string,
  change: Partial<Pick<Profile, 'data' | 'summary'>>,
): Promise<{ profile: Profile; isNew: boolean }> {
  return changeMemory(em, accountId, async (tx) => {
    const now = new Date();
    const found = await tx.findOne(Profile, { account: accountId });
    const profile =
      found === null
        ? tx.create(Profile, { account: accountId, data: {}, ...change, createdAt: now, updatedAt: now })
        : tx.assign(
            found,
            { ...change, revision: found.revision + 1, updatedAt: now },
            { mergeObjectProperties: false },
          );
    await tx.flush();
    return { profile, isNew: found === null };
  });
}

/** Throws `not_found` when there is none. */
export function deleteProfile(em: EntityManager, accountId: string): Promise<void> {
  return changeMemory(em, accountId, async (tx) => {
    const deleted = await tx.nativeDelete(Profile, { account: accountId });
    if (deleted === 0) throw new AppError('not_found');
  });
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Faults } from '../../../domain/faults.ts';
import {
  checkSpan,
  EPISODE_SPAN,
  type EpisodeValues,
  type NewEpisode,
  type RawValues,
} from '../../../domain/memory-rows.ts';
import { authorOf, originFrom, type Witness } from '../../../domain/witness.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newIds } from '../../../ids.ts';
import { Episode, Profile, RawMemory } from '../../entities/memory.ts';
import { addErasures } from '../erasures.ts';
import { projectsOf } from '../recording/read.ts';
import { redactProfile } from '../replies/redact.ts';
import { changeMemory } from './change.ts';
import { checkSources, type RowWithSources, setSources, withSources } from './links.ts';
import { storePhrases } from './phrases.ts';

export function addRawRows(
  em: EntityManager,
  accountId: string,
  posted: RawValues[],
  witness: Witness,
): Promise<RawMemory[]> {
  const rows = posted.map((row) => ({ ...row, origin: originFrom(row.origin, witness) }));
  const createdAt = new Date();
  const ids = newIds(rows.length);
  return changeMemory(em, accountId, async (tx) => {
    const projects = await projectsOf(
      tx,
      rows.map((row) => ({ ...row, accountId })),
    );
    const newRows = rows.map((row, place) => {
      const columns = { ...row, project: projects[place] ?? null, witness: witness.name };
      return tx.create(RawMemory, { ...columns, id: ids[place], account: accountId, createdAt });
    });
    await tx.flush();
    await storePhrases(
      tx,
      accountId,
      rows.map((row, place) => ({ ...row, id: ids[place] ?? '' })),
    );
    return newRows;
  });
}

const EPISODE_LINK = { from: 'episode', to: 'raw' } as const;

/** Stores episodes, all or none. Throws a `ValidationError` for raw rows that the account does not have. */
export function addEpisodes(
  em: EntityManager,
  accountId: string,
  episodes: NewEpisode[],
  witness: Witness,
): Promise<RowWithSources<Episode>[]> {
  const now = new Date();
  const ids = newIds(episodes.length);
  return changeMemory(em, accountId, async (tx) => {
    await checkSources(tx, accountId, EPISODE_LINK.to, episodes);
    for (const { faults } of episodes) faults.throwIfAny();
    const newEpisodes = episodes.map(({ values, sources }, place) => {
      const dates = { createdAt: now, updatedAt: now };
      const columns = { ...values, ...authorOf(witness, values.origin), account: accountId, ...dates };
      return {
        row: tx.create(Episode, { ...columns, id: ids[place] ?? '' }),
        sources: [...new Set(sources)],
      };
    });
    await tx.flush();
    await setSources(tx, accountId, EPISODE_LINK, newEpisodes);
    return newEpisodes;
  });
}

/** Throws `not_found`. */
export async function readEpisode(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<RowWithSources<Episode>> {
  const row = await em.findOneOrFail(Episode, { id, account: accountId });
  return (await withSources(em, accountId, EPISODE_LINK.to, [row]))[0] ?? { row, sources: [] };
}

/**
 * Changes the given fields. Throws `not_found`. Throws a `ValidationError` if the episode would end before it starts or
 * have unknown sources, or if its text was erased and it would have neither a whole text nor a source.
 */
export function changeEpisode(
  em: EntityManager,
  accountId: string,
  id: string,
  { values: { sources, ...values }, faults }: { values: EpisodeValues; faults: Faults },
  witness: Witness,
): Promise<RowWithSources<Episode>> {
  if (sources === undefined && Object.keys(values).length === 0) return readEpisode(em, accountId, id);
  return changeMemory(em, accountId, async (tx) => {
    const row = await tx.findOneOrFail(Episode, { id, account: accountId });
    tx.assign(row, { ...values, updatedAt: new Date() });
    checkSpan(row.startedAt, row.endedAt, faults, EPISODE_SPAN, { sentEnd: values.endedAt !== undefined });
    await checkSources(tx, accountId, EPISODE_LINK.to, [{ sources, faults }]);
    // The person has written the whole text, so promotion must not change it.
    if (values.title !== undefined && values.summary !== undefined)
      Object.assign(row, { ...authorOf(witness), staleAt: null });
    // Without rows, promotion would find the stale episode forever, and have nothing to write it from.
    if (row.staleAt !== null && sources?.length === 0)
      faults.add('raw_ids', 'Input should name a row, or come with title and summary');
    faults.throwIfAny();
    await tx.flush();
    if (sources !== undefined) await setSources(tx, accountId, EPISODE_LINK, [{ row, sources }]);
    return readEpisode(tx, accountId, id);
  });
}

export function writeProfile(
  em: EntityManager,
  accountId: string,
  change: Partial<Pick<Profile, 'data' | 'summary'>>,
): Promise<{ profile: Profile; isNew: boolean }> {
  return changeMemory(em, accountId, async (tx) => {
    const now = new Date();
    const existing = await tx.findOne(Profile, { account: accountId });
    const profile =
      existing === null
        ? tx.create(Profile, { account: accountId, data: {}, ...change, createdAt: now, updatedAt: now })
        : tx.assign(
            existing,
            { ...change, revision: existing.revision + 1, updatedAt: now },
            { mergeObjectProperties: false },
          );
    await tx.flush();
    return { profile, isNew: existing === null };
  });
}

/** Throws `not_found` if there is no profile. */
export async function readProfile(em: EntityManager, accountId: string): Promise<Profile> {
  const profile = await em.findOne(Profile, { account: accountId });
  if (profile === null) throw noProfile();
  return profile;
}

function noProfile(): AppError {
  return new AppError('not_found', { explanation: 'There is no profile yet.' });
}

export function deleteProfile(em: EntityManager, accountId: string): Promise<void> {
  return changeMemory(em, accountId, (tx) => eraseProfile(tx, accountId));
}

/** Deletes the profile in a transaction of `changeMemory`. */
export async function eraseProfile(tx: EntityManager, accountId: string): Promise<void> {
  const deletedCount = await tx.nativeDelete(Profile, { account: accountId });
  if (deletedCount === 0) throw noProfile();
  await addErasures(tx, accountId, 'profile', ['']);
  await redactProfile(tx, accountId);
}

export interface TierCount {
  tier: 'profile' | 'facts' | 'episodes' | 'raw';
  count: number;
  lastUpdatedMs: number | null;
  countSince: number;
}

/** Counts the rows of each tier, and reads when it last changed. Former wordings do not count. */
export function countTiers(em: EntityManager, accountId: string, since: Date): Promise<TierCount[]> {
  return em.execute<TierCount[]>(
    `select t.tier, count(r.at)::int as count, (extract(epoch from max(r.at)) * 1000)::float8 as "lastUpdatedMs",
            count(r.at) filter (where r.at >= ?)::int as "countSince"
       from (values ('profile'), ('facts'), ('episodes'), ('raw')) t (tier) left join (
              select 'profile' as tier, updated_at as at from profiles where account_id = ?
              union all
              select 'facts', updated_at from facts where account_id = ? and revision_of is null
              union all
              select 'episodes', updated_at from episodes where account_id = ?
              union all
              select 'raw', created_at from raw_memories where account_id = ?
            ) r on r.tier = t.tier
      group by t.tier`,
    [since, accountId, accountId, accountId, accountId],
  );
}

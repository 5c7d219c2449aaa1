import type { EntityManager } from '@mikro-orm/postgresql';
import { Faults } from '../../../domain/faults.ts';
import { checkSpan, EPISODE_SPAN, type EpisodeValues, type NewEpisode } from '../../../domain/memory-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newIds } from '../../../ids.ts';
import { Episode } from '../../entities/memory/episode.ts';
import { changeMemory } from './change.ts';
import { checkSources, type Sourced, setSources, withSources } from './links.ts';

const LINK = { from: 'episode', to: 'raw' } as const;

/** Stores episodes, all or none. Throws a `ValidationError` for raw rows that the account does not have. */
export function addEpisodes(
  em: EntityManager,
  accountId: string,
  episodes: NewEpisode[],
): Promise<Sourced<Episode>[]> {
  const now = new Date();
  const ids = newIds(episodes.length);
  return changeMemory(em, accountId, async (tx) => {
    await checkSources(tx, accountId, LINK.to, episodes);
    for (const { faults } of episodes) faults.refuse();
    const added = episodes.map(({ values, sources }, place) => {
      const dates = { createdAt: now, updatedAt: now };
      return {
        row: tx.create(Episode, { ...values, id: ids[place] ?? '', account: accountId, ...dates }),
        sources,
      };
    });
    await tx.flush();
    await setSources(tx, accountId, LINK, added);
    return added;
  });
}

/** One of the account's episodes. */
export async function findEpisode(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<Sourced<Episode> | undefined> {
  const row = await em.findOne(Episode, { id, account: accountId });
  if (row === null) return undefined;
  const [episode] = await withSources(em, accountId, LINK.to, [row]);
  return episode;
}

/**
 * Changes what is given. Throws `not_found`, or a `ValidationError` when the result would end before it starts or have
 * unknown sources.
 */
export function changeEpisode(
  em: EntityManager,
  accountId: string,
  id: string,
  { sources, ...values }: EpisodeValues,
): Promise<Sourced<Episode>> {
  return changeMemory(em, accountId, async (tx) => {
    const row = await tx.findOne(Episode, { id, account: accountId });
    if (row === null) throw new AppError('not_found');
    const faults = new Faults();
    tx.assign(row, { ...values, updatedAt: new Date() });
    checkSpan(row.startedAt, row.endedAt, faults, EPISODE_SPAN, { sentEnd: values.endedAt !== undefined });
    await checkSources(tx, accountId, LINK.to, [{ sources, faults }]);
    faults.refuse();
    // All that it says is the account's own words now: nothing but the account may change them.
    if (values.title !== undefined && values.summary !== undefined)
      Object.assign(row, { origin: 'human', staleAt: null });
    await tx.flush();
    if (sources !== undefined) await setSources(tx, accountId, LINK, [{ row, sources }]);
    const [changed] = await withSources(tx, accountId, LINK.to, [row]);
    return changed ?? { row, sources: [] };
  });
}

import { withSources } from '../../../../shared/db/stores/memory/links.ts';
import { countTiers } from '../../../../shared/db/stores/memory/rows.ts';
import { projectsAskedFor } from '../../../../shared/domain/project.ts';
import { MemoryStats, MemoryStatsQuery } from '../../../../shared/schemas/memory.ts';
import { ContextRequest, ContextResponse } from '../../../../shared/schemas/memory-context.ts';
import { endpoint } from '../../../http/endpoint.ts';
import { queryTime } from '../../../memory/list.ts';
import {
  presentEpisode,
  presentFact,
  presentProfile,
  presentRaw,
  presentStats,
} from '../../../memory/present.ts';
import { requestedProject } from '../../../request/headers.ts';
import type { Parts } from '../../parts.ts';

export const assembleMemoryContext = endpoint('user', {
  operationId: 'assembleContext',
  scopes: ['read'],
  tag: 'Memory',
  summary: 'What is known about the account and what it did lately, for one question',
  description:
    'The same bundle that predictions get. When more rows match than fit, pinned and relevant rows are preferred to the latest.',
  body: ContextRequest,
  requestHeaders: ['Forecue-Project'],
  response: ContextResponse,
}).handle(
  async ({ user, body, headers, reserve, signal }, { em, assembleContext, takeContextTurn }: Parts) => {
    const query = {
      ...(body.query !== undefined && { query: body.query }),
      ...(body.goal !== undefined && { goal: body.goal }),
      ...(body.tags !== undefined && { tags: body.tags }),
      ...projectsAskedFor(requestedProject(headers), body.query),
      recencyMinutes: body.recency_minutes,
      maxFacts: body.max_facts,
      maxEpisodes: body.max_episodes,
      maxRaw: body.max_raw,
    };
    const { profile, facts, episodes, raw, meta } = await assembleContext(user.id, query, {
      reserve,
      inTurn: (read) => takeContextTurn({ party: user.id, gone: signal }, read),
    });
    // The assembled rows are neither superseded nor stale.
    const current = { supersededBy: null, invalidatedAt: null, revisionOf: null, staleAt: null };
    const factRows = facts.map((row) => ({ ...row, ...current }));
    const episodeRows = episodes.map((row) => ({ ...row, staleAt: null }));
    return {
      body: {
        profile: profile && presentProfile(profile),
        facts: (await withSources(em(), user.id, 'episode', factRows)).map(presentFact),
        episodes: (await withSources(em(), user.id, 'raw', episodeRows)).map(presentEpisode),
        raw: raw.map(presentRaw),
        meta,
      },
      read: {
        profile: profile === null ? 0 : 1,
        facts: facts.length,
        episodes: episodes.length,
        raw: raw.length,
      },
    };
  },
);

export const readMemoryStats = endpoint('user', {
  operationId: 'readMemoryStats',
  tag: 'Memory',
  summary: 'How many rows each tier has, and when it last changed',
  inTurn: 'memory',
  query: MemoryStatsQuery,
  response: MemoryStats,
}).handle(async ({ user, query }, { em }: Parts) => {
  const since = queryTime(query.since);
  return { body: presentStats(await countTiers(em(), user.id, since ?? new Date(0)), since) };
});

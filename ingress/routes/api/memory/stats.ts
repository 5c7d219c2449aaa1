import type { EntityManager } from '@mikro-orm/postgresql';
import { countTiers } from '../../../../shared/db/stores/memory/rows.ts';
import { MemoryStats, MemoryStatsQuery } from '../../../../shared/schemas/memory.ts';
import { endpoint } from '../../../http/endpoint.ts';
import { queryTime } from '../../../memory/list.ts';
import { presentStats } from '../../../memory/present.ts';

export interface MemoryStatsRoutes {
  em: () => EntityManager;
}

export const readMemoryStats = endpoint('user', {
  operationId: 'readMemoryStats',
  tag: 'Memory',
  summary: 'How many rows each tier has, and when it last changed',
  inTurn: 'memory',
  query: MemoryStatsQuery,
  errors: [],
  status: 200,
  response: MemoryStats,
}).handle(async ({ user, query }, { em }: MemoryStatsRoutes) => {
  const since = queryTime('since', query.since);
  return { body: presentStats(await countTiers(em(), user.id, since ?? new Date(0)), since) };
});

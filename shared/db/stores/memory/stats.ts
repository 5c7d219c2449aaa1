import type { EntityManager } from '@mikro-orm/postgresql';

export interface TierCount {
  tier: 'profile' | 'facts' | 'episodes' | 'raw';
  count: number;
  lastUpdatedMs: number | null;
  countSince: number;
}

/** How many rows each tier has, when it last changed, and how many changed since. Former wordings of facts do not count. */
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

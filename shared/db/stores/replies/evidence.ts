import type { EntityManager } from '@mikro-orm/postgresql';
import type { TIERS } from '../../../schemas/memory.ts';
import type { ReplyContext } from '../../../schemas/replies.ts';

const ROWS_PER_TIER_MAX = 12;
const TEXT_CHARS = 1000;

export interface EvidenceRow {
  tier: (typeof TIERS)[number];
  id: string;
  text: string;
  atMs: number;
}

const rowsOf = (tier: string, table: string, text: string, at: string) => `
  select '${tier}' as tier, m.id, left(${text}, ${TEXT_CHARS}) as text,
         (extract(epoch from ${at}) * 1000)::float8 as "atMs", place
    from unnest(?::uuid[]) with ordinality u (id, place) join ${table} m using (id) where account_id = ?`;

const SELECT_ROWS = `
  select tier, id, text, "atMs" from (
    select 0 as rank, r.* from (${rowsOf('raw', 'raw_memories', 'content', 'occurred_at')}) r
    union all select 1, r.* from (${rowsOf('fact', 'facts', 'text', 'recorded_at')}) r
    union all select 2, r.* from (${rowsOf('episode', 'episodes', 'summary', 'ended_at')}) r
  ) r order by rank, place`;

/** Reads the first rows of each tier that a prediction was made from; those that are gone are left out. */
export async function readEvidence(
  em: EntityManager,
  accountId: string,
  context: ReplyContext | null | undefined,
): Promise<EvidenceRow[]> {
  if (!context) return [];
  const { example_ids, raw_ids, fact_ids, episode_ids } = context;
  const ids = [[...new Set([...example_ids, ...raw_ids])], fact_ids, episode_ids];
  const values = ids.flatMap((some) => [`{${some.slice(0, ROWS_PER_TIER_MAX).join()}}`, accountId]);
  return em.execute<EvidenceRow[]>(SELECT_ROWS, values);
}

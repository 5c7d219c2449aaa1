import type { EntityManager } from '@mikro-orm/postgresql';
import { shinglesOf } from '../../../domain/shingles.ts';

/** A derived row that lost a source. */
interface Derived {
  id: string;
  /** All that it says. */
  text: string;
}

interface Compared {
  id: string;
  /** What its remaining raw sources say. */
  kept: string[];
  /** Whether its text is nearly a part of what was deleted, and of nothing that it still has. */
  similar: boolean;
}

/** Above it a text counts as a part of another one (`word_similarity` of pg_trgm). */
const SIMILAR = 0.6;

/**
 * The ids of the rows that may repeat words of deleted texts: they share five words in a row with these, or are nearly a
 * part of them, and none of their remaining raw sources says the same.
 */
export async function findRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly Derived[],
  deleted: readonly string[],
): Promise<string[]> {
  if (rows.length === 0) return [];
  const compared = await tx.execute<Compared[]>(COMPARE, [
    JSON.stringify(rows),
    JSON.stringify(deleted),
    accountId,
    accountId,
    SIMILAR,
    SIMILAR,
  ]);
  const lost = new Set(deleted.flatMap((text) => [...shinglesOf(text)]));
  const texts = new Map(rows.map(({ id, text }) => [id, text]));
  const repeating = compared.filter(({ id, kept, similar }) => {
    if (similar) return true;
    const own = shinglesOf(texts.get(id) ?? '').intersection(lost);
    return kept.reduce((left, text) => left.difference(shinglesOf(text)), own).size > 0;
  });
  return repeating.map(({ id }) => id);
}

/** The raw sources of a row are those that it names, and those of the episodes that it names. */
const COMPARE = `
  with derived as (select id, search_text(text) as text from json_to_recordset(?::json) d (id uuid, text text)),
  deleted as (select search_text(value) as text from json_array_elements_text(?::json)),
  kept as (
    select d.id, r.content
      from derived d
      join memory_links l on l.account_id = ? and l.from_id = d.id
      left join memory_links e on e.account_id = ? and e.from_id = l.to_id
      join raw_memories r on r.id = coalesce(e.to_id, l.to_id)
  )
  select d.id, coalesce((select json_agg(distinct k.content) from kept k where k.id = d.id), '[]') as kept,
         exists (select from deleted x where word_similarity(d.text, x.text) >= ?)
           and not exists (
             select from kept k where k.id = d.id and word_similarity(d.text, search_text(k.content)) >= ?) as similar
    from derived d`;

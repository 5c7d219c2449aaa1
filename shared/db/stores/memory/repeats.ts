import type { EntityManager } from '@mikro-orm/postgresql';
import { shinglesOf } from '../../../domain/shingles.ts';

/** A derived row that lost a source. */
interface Derived {
  id: string;
  /** All that it says. */
  text: string;
}

/** A raw source that a derived row still has. */
interface Kept {
  content: string;
  /** Whether the derived row is nearly a part of it. */
  near: boolean;
}

/** Above it a text counts as a part of another one (`word_similarity` of pg_trgm). */
const SIMILAR = 0.6;

/**
 * The ids of the rows that may repeat words of deleted texts: they share five words in a row with these, or are nearly a
 * part of them, and none of their remaining raw sources says the same. The sources are read of one row at a time, and only of
 * those that do repeat: hundreds of rows may have hundreds of long sources.
 */
export async function findRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly Derived[],
  deleted: readonly string[],
): Promise<string[]> {
  if (rows.length === 0) return [];
  const parts = await tx.execute<{ id: string }[]>(PARTS, [
    JSON.stringify(rows),
    JSON.stringify(deleted),
    SIMILAR,
  ]);
  const nearly = new Set(parts.map(({ id }) => id));
  const lost = new Set(deleted.flatMap((text) => [...shinglesOf(text)]));
  const repeating: string[] = [];
  for (const { id, text } of rows) {
    const shared = shinglesOf(text).intersection(lost);
    const isNear = nearly.has(id);
    if (shared.size === 0 && !isNear) continue;
    const kept = await tx.execute<Kept[]>(KEPT, [isNear, text, SIMILAR, accountId, accountId, id]);
    const left = kept.reduce((own, { content }) => own.difference(shinglesOf(content)), shared);
    if (left.size > 0 || (isNear && !kept.some(({ near }) => near))) repeating.push(id);
  }
  return repeating;
}

/** The rows whose text is nearly a part of a deleted one. */
const PARTS = `
  select d.id
    from (select id, search_text(text) as text from json_to_recordset(?::json) d (id uuid, text text)) d
   where exists (
     select from (select search_text(value) as text from json_array_elements_text(?::json)) x
      where word_similarity(d.text, x.text) >= ?)`;

/** The raw sources of a row are those that it names, and those of the episodes that it names. */
const KEPT = `
  select r.content, ?::boolean and word_similarity(search_text(?), search_text(r.content)) >= ? as near
    from raw_memories r
   where r.id in (
     select coalesce(e.to_id, l.to_id)
       from memory_links l left join memory_links e on e.account_id = ? and e.from_id = l.to_id
      where l.account_id = ? and l.from_id = ?)`;

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { KIB, MIB } from '../../../schemas/limits.ts';
import { shinglesOf } from '../../../text/similarity.ts';
import { inPages } from '../../steps.ts';

/** Deleted texts, to compare others with. */
export interface DeletedTexts {
  texts: readonly string[];
  shingles: ReadonlySet<string>;
  /** Their length together. */
  length: number;
  /** Pairs of characters that may still be compared, here or in the database. */
  room: number;
}

/** A derived row that lost a source. */
interface Derived {
  id: string;
  /** All that it says. */
  text: string;
}

/** Words that a row shares with deleted texts. */
interface Common {
  shingles: Set<string>;
  /** True if it is nearly a part of one of them. */
  isPart: boolean;
}

/** A raw source that a derived row still has. */
interface Kept {
  content: string;
  /** True if the derived row is nearly a part of it. */
  near: boolean;
}

/** Above it a text counts as a part of another one (`word_similarity` of pg_trgm). */
const SIMILAR = 0.6;
/** Characters of deleted texts that others are compared with. */
const LOST_MAX = 64 * KIB;
/** Sources of one row that are read, and how many of them at once. */
const SOURCES = { most: 200, atOnce: 20 };
/** `word_similarity` takes about a nanosecond for a pair: this is some 10 s, in statements that each take 3 s at most. */
const ROOM = 8 * KIB * MIB;
/** The cost of a source: to read it, and to find the words in its characters. */
const READING = { row: 500, character: KIB };

/** Prepares a comparison with deleted texts. Undefined for too many of them: everything counts as repeating those. */
export function compareWith(texts: readonly string[] | undefined): DeletedTexts | undefined {
  if (texts === undefined) return undefined;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > LOST_MAX) return undefined;
  const shingles = new Set(texts.flatMap((text) => [...shinglesOf(text)]));
  return { texts, shingles, length, room: ROOM };
}

/**
 * The ids of the rows that may repeat words of deleted texts: they share five words in a row with these, or are nearly a
 * part of them, and none of their remaining raw sources says the same. A row that is not compared, for lack of time,
 * counts as repeating.
 */
export async function findRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly Derived[],
  lost: DeletedTexts | undefined,
): Promise<string[]> {
  if (lost === undefined) return rows.map(({ id }) => id);
  const repeating: string[] = [];
  for (const row of rows) {
    // The words of many long texts take seconds: other requests have their turn in between.
    await nextTurn();
    if (await mayRepeat(tx, accountId, row, lost)) repeating.push(row.id);
  }
  return repeating;
}

async function mayRepeat(
  tx: EntityManager,
  accountId: string,
  row: Derived,
  lost: DeletedTexts,
): Promise<boolean> {
  lost.room -= row.text.length * lost.length;
  if (lost.room < 0) return true;
  const values = [JSON.stringify(lost.texts), row.text, SIMILAR];
  const [{ isPart } = { isPart: false }] = await tx.execute<{ isPart: boolean }[]>(PART, values);
  const shingles = shinglesOf(row.text).intersection(lost.shingles);
  if (shingles.size === 0 && !isPart) return false;
  return !(await isSaidElsewhere(tx, accountId, row, { shingles, isPart }, lost));
}

/** Reports whether the remaining sources of a row say all that it shares with deleted texts. */
async function isSaidElsewhere(
  tx: EntityManager,
  accountId: string,
  { id, text }: Derived,
  { shingles, isPart }: Common,
  lost: DeletedTexts,
): Promise<boolean> {
  const found = await tx.execute<{ id: string }[]>(SOURCE_IDS, [accountId, accountId, id, SOURCES.most]);
  const ids = found.map((source) => source.id);
  const costOfCharacter = Math.max(READING.character, isPart ? text.length : 0);
  let left = shingles;
  let isPartLeft = isPart;
  for (const some of inPages(ids, SOURCES.atOnce)) {
    if (lost.room < 0) return false;
    const kept = await tx.execute<Kept[]>(KEPT, [isPart, text, SIMILAR, accountId, JSON.stringify(some)]);
    for (const { content, near } of kept) {
      await nextTurn();
      lost.room -= (READING.row + content.length) * costOfCharacter;
      left = left.difference(shinglesOf(content));
      if (near) isPartLeft = false;
      if (left.size === 0 && !isPartLeft) return true;
    }
  }
  return false;
}

/** Finds out whether a text is nearly a part of a deleted one. */
const PART = `
  select exists (
    select from json_array_elements_text(?::json) lost (text)
     where word_similarity(search_text(?), search_text(lost.text)) >= ?) as "isPart"`;

/** The raw sources of a row are those that it names, and those of the episodes that it names. */
const SOURCE_IDS = `
  select r.id from raw_memories r
   where r.id in (
     select coalesce(e.to_id, l.to_id)
       from memory_links l left join memory_links e on e.account_id = ? and e.from_id = l.to_id
      where l.account_id = ? and l.from_id = ?)
   order by r.id limit ?`;

const KEPT = `
  select r.content, ?::boolean and word_similarity(search_text(?), search_text(r.content)) >= ? as near
    from raw_memories r
   where r.account_id = ? and r.id in (select json_array_elements_text(?::json)::uuid)`;

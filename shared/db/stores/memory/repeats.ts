import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { idsOf } from '../../../ids.ts';
import { KIB } from '../../../schemas/limits.ts';
import { SHINGLE_WORDS } from '../../../text/similarity.ts';
import { wordNgrams, wordsOf } from '../../../text/words.ts';
import { oneRow } from '../../rows.ts';
import { inPages } from '../../steps.ts';
import { DERIVED_FROM } from './links.ts';

export interface DeletedTexts {
  texts: readonly string[];
  shingles: ReadonlySet<string>;
  /** In words. */
  shingleLengths: readonly number[];
  timeUp: AbortSignal;
}

/** A derived row, or a prediction, that lost a source. */
interface DerivedRow {
  id: string;
  text: string;
}

/** Minimum `word_similarity` (pg_trgm) with which a text counts as a part of another one. */
const SIMILARITY_MIN = 0.6;
/** Deleted texts with a greater total length are not compared. */
const DELETED_LENGTH_MAX = 64 * KIB;
/** Maximum numbers of a row's sources that are read: in total, and by one statement. */
const SOURCES_MAX = { total: 200, atOnce: 20 };
const COMPARISON_MS = 10_000;

/** Aborts when all comparisons of one deletion have had their time. */
export function comparisonTimeUp(): AbortSignal {
  return AbortSignal.timeout(COMPARISON_MS);
}

/**
 * Prepares a comparison with deleted texts. Returns undefined if there are too many or too long texts; then every text
 * counts as repeating them. With `ofFewWords`, a text with too few words for a shingle is one shingle.
 */
export function prepareComparison(
  texts: readonly string[] | undefined,
  timeUp: AbortSignal,
  { ofFewWords = false } = {},
): DeletedTexts | undefined {
  const length = texts?.reduce((sum, text) => sum + text.length, 0);
  if (texts === undefined || length === undefined || length > DELETED_LENGTH_MAX) return undefined;
  const wordLists = texts.map(wordsOf).filter((words) => words.length > 0);
  const lengthIn = (words: readonly string[]) =>
    ofFewWords ? Math.min(words.length, SHINGLE_WORDS) : SHINGLE_WORDS;
  const shingles = new Set(wordLists.flatMap((words) => wordNgrams(words, lengthIn(words))));
  return { texts, shingles, shingleLengths: [...new Set(wordLists.map(lengthIn))], timeUp };
}

/** Returns the deleted shingles that are in a text. */
function deletedShinglesIn(text: string, { shingles, shingleLengths }: DeletedTexts): Set<string> {
  const words = wordsOf(text);
  return new Set(shingleLengths.flatMap((length) => wordNgrams(words, length))).intersection(shingles);
}

/**
 * Returns the ids of the rows that may repeat deleted texts: those that share a shingle with a deleted text or are
 * nearly a part of one, unless their remaining raw sources say the same. Rows for which there is no time count as
 * repeating.
 */
export async function findRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly DerivedRow[],
  deletedTexts: DeletedTexts | undefined,
): Promise<string[]> {
  const repeating: string[] = [];
  for (const row of rows)
    if (deletedTexts === undefined || (await repeats(tx, accountId, row, deletedTexts)))
      repeating.push(row.id);
  return repeating;
}

/** Each text is compared in a turn of its own, so that other requests are served meanwhile. */
async function repeats(
  tx: EntityManager,
  accountId: string,
  { id, text }: DerivedRow,
  deletedTexts: DeletedTexts,
): Promise<boolean> {
  const { texts, timeUp } = deletedTexts;
  if (timeUp.aborted) return true;
  const partValues = [texts, text, SIMILARITY_MIN];
  const { isPart } = await oneRow(tx.execute<{ isPart: boolean }[]>(IS_PART, partValues));
  let unsaidShingles = deletedShinglesIn(text, deletedTexts);
  let isUnsaidPart = isPart;
  if (unsaidShingles.size === 0 && !isUnsaidPart) return false;
  const values = [id, id, accountId, accountId, DERIVED_FROM, accountId, SOURCES_MAX.total];
  const sourceIds = idsOf(await tx.execute<{ id: string }[]>(FIND_SOURCES, values));
  for (const page of inPages(sourceIds, SOURCES_MAX.atOnce)) {
    const readValues = [isPart, text, SIMILARITY_MIN, accountId, page];
    for (const { content, saysPart } of await tx.execute<RemainingSource[]>(READ_SOURCES, readValues)) {
      await nextTurn();
      if (timeUp.aborted) return true;
      unsaidShingles = unsaidShingles.difference(deletedShinglesIn(content, deletedTexts));
      if (saysPart) isUnsaidPart = false;
      if (unsaidShingles.size === 0 && !isUnsaidPart) return false;
    }
  }
  return true;
}

const IS_PART = `
  select exists (
    select from unnest(array[?]::text[]) lost (text)
     where word_similarity(search_text(?), search_text(lost.text)) >= ?) as "isPart"`;

/**
 * Finds the raw rows that a row was derived from, directly or through other rows. A prediction counts as derived from
 * the rows in its context.
 */
const FIND_SOURCES = `
  with recursive source (id) as (
    (select ?::uuid
      union
     select used.id::uuid
       from replies r
      cross join unnest(array['fact_ids', 'episode_ids', 'raw_ids', 'example_ids']) tier
      cross join jsonb_array_elements_text(r.context -> tier) used (id)
      where r.id = ? and r.account_id = ?)
    union
    select l.to_id
      from source s join memory_links l on l.account_id = ? and l.from_id = s.id and l.relation = ?)
  select r.id from source s join raw_memories r on r.id = s.id where r.account_id = ? order by r.id limit ?`;

interface RemainingSource {
  content: string;
  /** True if it contains the derived row's text almost word for word. */
  saysPart: boolean;
}

const READ_SOURCES = `
  select r.content, ?::boolean and word_similarity(search_text(?), search_text(r.content)) >= ? as "saysPart"
    from raw_memories r
   where r.account_id = ? and r.id = any (array[?]::uuid[])`;

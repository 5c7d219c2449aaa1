import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { KIB, MIB } from '../../../schemas/limits.ts';
import { SHINGLE_WORDS } from '../../../text/similarity.ts';
import { wordNgrams, wordsOf } from '../../../text/words.ts';
import { inPages } from '../../steps.ts';
import { DERIVED_FROM } from './links.ts';

export interface DeletedTexts {
  texts: readonly string[];
  shingles: ReadonlySet<string>;
  /** In words. */
  shingleLengths: readonly number[];
  /** Total length of the texts. */
  length: number;
  budget: ComparisonBudget;
}

/** Remaining budget of a deletion, which all of its comparisons share. */
export interface ComparisonBudget {
  /** Pairs of characters that may still be compared, in this process or in the database. */
  pairs: number;
}

/** A derived row, or a prediction, that lost a source. */
interface DerivedRow {
  id: string;
  text: string;
}

interface Suspect extends DerivedRow {
  shingles: Set<string>;
  /** True if a deleted text contains the row's text almost word for word. */
  isPart: boolean;
}

interface RemainingSource {
  content: string;
  /** True if it contains the derived row's text almost word for word. */
  containsDerived: boolean;
}

/** Minimum `word_similarity` (pg_trgm) with which a text counts as a part of another one. */
const SIMILARITY_MIN = 0.6;
/** Deleted texts with a greater total length are not compared. */
const DELETED_LENGTH_MAX = 64 * KIB;
/** Maximum numbers of a row's sources that are read: in total, and by one statement. */
const SOURCES_MAX = { total: 200, atOnce: 20 };
/** Budget of a deletion, in pairs of characters: `word_similarity` takes about a nanosecond per pair, so about 10 s. */
const BUDGET_PAIRS = 8 * KIB * MIB;
/**
 * Maximum number of pairs of characters that one statement compares, which takes less than 0.1 s. A row with more is
 * compared alone.
 */
const PAIRS_AT_ONCE = 64 * MIB;
/** Cost of reading a source, in pairs of characters: the sum of its length and `row`, times at least `character`. */
const READING_COST = { row: 500, character: KIB };

export function newBudget(): ComparisonBudget {
  return { pairs: BUDGET_PAIRS };
}

/**
 * Prepares a comparison with deleted texts. Returns undefined if there are too many or too long texts; then every text
 * counts as repeating them. With `ofFewWords`, a text with too few words for a shingle is one shingle.
 */
export function prepareComparison(
  texts: readonly string[] | undefined,
  budget: ComparisonBudget,
  { ofFewWords = false } = {},
): DeletedTexts | undefined {
  if (texts === undefined) return undefined;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > DELETED_LENGTH_MAX) return undefined;
  const wordLists = texts.map(wordsOf).filter((words) => words.length > 0);
  const lengthIn = (words: readonly string[]) =>
    ofFewWords ? Math.min(words.length, SHINGLE_WORDS) : SHINGLE_WORDS;
  const shingles = new Set(wordLists.flatMap((words) => wordNgrams(words, lengthIn(words))));
  const shingleLengths = [...new Set(wordLists.map(lengthIn))];
  return { texts, shingles, shingleLengths, length, budget };
}

/** Returns the runs of words of a text that are as long as the deleted shingles. */
function shinglesIn(text: string, { shingleLengths }: DeletedTexts): Set<string> {
  const words = wordsOf(text);
  return new Set(shingleLengths.flatMap((length) => wordNgrams(words, length)));
}

/**
 * Returns the ids of the rows that may repeat deleted texts: those that share a shingle with a deleted text or are
 * nearly a part of one, unless their remaining raw sources say the same. Rows over the budget count as repeating.
 */
export async function findRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly DerivedRow[],
  deletedTexts: DeletedTexts | undefined,
): Promise<string[]> {
  if (deletedTexts === undefined) return rows.map(({ id }) => id);
  const repeating: string[] = [];
  for (const group of inGroups(rows, deletedTexts)) {
    const suspects = await findSuspects(tx, group, deletedTexts);
    const sources = await sourcesOf(tx, accountId, suspects);
    for (const row of suspects)
      if (!(await isSaidElsewhere(tx, accountId, row, sources.get(row.id) ?? [], deletedTexts)))
        repeating.push(row.id);
  }
  return repeating;
}

/** Divides rows into groups that one SQL statement can compare with the deleted texts. A large row is its own group. */
function* inGroups(rows: readonly DerivedRow[], deletedTexts: DeletedTexts): Generator<DerivedRow[]> {
  let group: DerivedRow[] = [];
  let pairs = 0;
  for (const row of rows) {
    pairs += row.text.length * deletedTexts.length;
    if (group.length > 0 && pairs > PAIRS_AT_ONCE) {
      yield group;
      [group, pairs] = [[], row.text.length * deletedTexts.length];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

/** Returns the rows that share wording with deleted texts, and the rows for which the budget is too small. */
async function findSuspects(
  tx: EntityManager,
  rows: readonly DerivedRow[],
  deletedTexts: DeletedTexts,
): Promise<Suspect[]> {
  const comparedRows = rows.filter(({ text }) => {
    deletedTexts.budget.pairs -= text.length * deletedTexts.length;
    return deletedTexts.budget.pairs >= 0;
  });
  const values = [JSON.stringify(comparedRows), JSON.stringify(deletedTexts.texts), SIMILARITY_MIN];
  const found = comparedRows.length === 0 ? [] : await tx.execute<{ id: string }[]>(FIND_PARTS, values);
  const parts = new Set(found.map(({ id }) => id));
  const suspects: Suspect[] = [];
  for (const row of rows) {
    // Lets other requests take a turn, because finding the words of many long texts takes seconds.
    await nextTurn();
    const isCompared = comparedRows.includes(row);
    const shingles = isCompared
      ? shinglesIn(row.text, deletedTexts).intersection(deletedTexts.shingles)
      : new Set<string>();
    const isPart = parts.has(row.id);
    if (shingles.size > 0 || isPart || !isCompared) suspects.push({ ...row, shingles, isPart });
  }
  return suspects;
}

async function sourcesOf(
  tx: EntityManager,
  accountId: string,
  rows: readonly DerivedRow[],
): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map();
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const values = [ids, accountId, ids, accountId, DERIVED_FROM, accountId, SOURCES_MAX.total, ids];
  const found = await tx.execute<{ id: string; sources: string[] }[]>(FIND_SOURCE_IDS, values);
  return new Map(found.map(({ id, sources }) => [id, sources]));
}

/** Reports whether a row's remaining sources contain everything that it shares with deleted texts. */
async function isSaidElsewhere(
  tx: EntityManager,
  accountId: string,
  { text, shingles, isPart }: Suspect,
  sources: readonly string[],
  deletedTexts: DeletedTexts,
): Promise<boolean> {
  const costOfCharacter = Math.max(READING_COST.character, isPart ? text.length : 0);
  let remainingShingles = shingles;
  let isPartLeft = isPart;
  for (const page of inPages(sources, SOURCES_MAX.atOnce)) {
    if (deletedTexts.budget.pairs < 0) return false;
    const remainingSources = await tx.execute<RemainingSource[]>(READ_SOURCES, [
      isPart,
      text,
      SIMILARITY_MIN,
      accountId,
      JSON.stringify(page),
    ]);
    for (const { content, containsDerived } of remainingSources) {
      await nextTurn();
      deletedTexts.budget.pairs -= (READING_COST.row + content.length) * costOfCharacter;
      remainingShingles = remainingShingles.difference(shinglesIn(content, deletedTexts));
      if (containsDerived) isPartLeft = false;
      if (remainingShingles.size === 0 && !isPartLeft) return true;
    }
  }
  return false;
}

/** Finds the rows whose text is nearly a part of a deleted one. */
const FIND_PARTS = `
  select r.id from json_to_recordset(?::json) r (id text, text text)
   where exists (
     select from json_array_elements_text(?::json) lost (text)
      where word_similarity(search_text(r.text), search_text(lost.text)) >= ?)`;

/**
 * Finds the raw rows that each row was derived from, directly or through other rows. A prediction counts as derived
 * from the rows in its context.
 */
const FIND_SOURCE_IDS = `
  with recursive source (of, id) as (
    (select value::uuid, value::uuid from json_array_elements_text(?::json)
      union
     select r.id, used.id::uuid
       from replies r
      cross join unnest(array['fact_ids', 'episode_ids', 'raw_ids', 'example_ids']) tier
      cross join jsonb_array_elements_text(r.context -> tier) used (id)
      where r.account_id = ? and r.id in (select json_array_elements_text(?::json)::uuid))
    union
    select s.of, l.to_id
      from source s join memory_links l on l.account_id = ? and l.from_id = s.id and l.relation = ?)
  select value as id, array(
           select r.id::text from source s join raw_memories r on r.id = s.id
            where s.of = value::uuid and r.account_id = ? order by r.id limit ?) as sources
    from json_array_elements_text(?::json)`;

const READ_SOURCES = `
  select r.content, ?::boolean and word_similarity(search_text(?), search_text(r.content)) >= ? as "containsDerived"
    from raw_memories r
   where r.account_id = ? and r.id in (select json_array_elements_text(?::json)::uuid)`;

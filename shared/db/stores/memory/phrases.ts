import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { RecalledPhrase } from '../../../domain/context-envelope.ts';
import { isEvidence } from '../../../domain/facts/statement.ts';
import type { RawValues } from '../../../domain/memory-rows.ts';
import { type PlacedPhrase, phrasesIn } from '../../../domain/said-elsewhere.ts';
import { hashOf, type Phrase, phrasesOf } from '../../../text/phrases.ts';
import { PRIVATE_TAG } from '../../../text/recallable.ts';
import { query, type SqlStatement } from '../../statement.ts';

/** Maximum number of phrases that are read for each tail (the last words of a draft). Some look-ups return one more. */
const PHRASES_PER_TAIL_MAX = 48;
/** The same for a draft of a project, since most of the phrases may be of other projects. */
const PHRASES_PER_TAIL_IN_PROJECT_MAX = 144;
/**
 * Maximum length of a tail, in UTF-16 units. A stored phrase is little longer, and must contain the tail and the words
 * after it.
 */
const TAIL_LENGTH_MAX = 48;

type NewRawRow = { id: string } & Pick<
  RawValues,
  'content' | 'role' | 'origin' | 'sessionId' | 'occurredAt' | 'tags'
>;

/** `row` is the index of the phrase's raw row, `sample` its sampling level, `occasion` a hash of the row's session. */
type RowPhrase = { row: number; sample: number; occasion: number } & Omit<Phrase, 'offset'>;

/** Only rows that the person wrote in their own words, and that are not tagged `private`, have phrases. */
export function phrasesOfRows(rows: readonly NewRawRow[]): RowPhrase[] {
  return rows.flatMap(({ id, content, tags, sessionId, occurredAt, ...by }, row) => {
    if (!isEvidence(by) || tags.includes(PRIVATE_TAG)) return [];
    const occasion = occasionOf(sessionId, occurredAt);
    return phrasesOf(content).map(({ offset, ...phrase }) => ({
      row,
      sample: samplingLevel(id, offset),
      occasion,
      ...phrase,
    }));
  });
}

/** Rows without a session count as one session a day: what is sent again after an error comes soon. */
function occasionOf(sessionId: string | null, occurredAt: Date): number {
  return hashOf(
    sessionId === null ? occurredAt.toISOString().slice(0, 'YYYY-MM-DD'.length) : `session ${sessionId}`,
  );
}

export async function storePhrases(
  tx: EntityManager,
  accountId: string,
  rows: readonly NewRawRow[],
): Promise<void> {
  const phrases = phrasesOfRows(rows).map(({ row, ...phrase }) => {
    return { ...phrase, id: rows[row]?.id, at: rows[row]?.occurredAt };
  });
  if (phrases.length > 0) await tx.execute(STORE_PHRASES, [accountId, JSON.stringify(phrases)]);
}

const STORE_PHRASES = `
  insert into phrases (account_id, raw_id, sample, line, written_at, occasion, words, written)
  select ?::uuid, p.id, p.sample, p.line, p.at, p.occasion, p.words, p.written
    from json_to_recordset(?::json) p (
      id uuid, at timestamptz, sample int, line int, occasion int, words text, written text)`;

/** Returns a level from 0 to 4, always the same for a phrase. From each level, one phrase in eight goes on. */
function samplingLevel(id: string, place: number): number {
  let hash = Number.parseInt(id.slice(-8), 16) ^ Math.imul(place + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.min(4, Math.floor(Math.clz32(hash ^ (hash >>> 16)) / 3));
}

const RECALL = {
  connection: {
    name: 'recall_phrases_v1',
    text: 'select * from recall_phrases_v1($1::uuid, $2::text[], $3::int, $4::boolean)',
  },
  account: {
    name: 'phrases_after_v1',
    text: `select * from phrases_after_v1($1::uuid, '{}', $2::text[], $3::int, $4::boolean)`,
  },
} as const satisfies Record<string, SqlStatement>;

/**
 * Reads how a person has continued the last words of a draft (`tails`) in earlier texts; a sample if there are many.
 * `id` is a connection's, which leaves out texts from other apps that are or were connected, or an account's. Of texts
 * of other projects than `project`, if given, returns only what the person writes in several.
 */
export async function recallPhrases(
  pool: Pool,
  by: keyof typeof RECALL,
  id: string,
  tails: readonly string[],
  project: string | undefined,
): Promise<RecalledPhrase[]> {
  const lookups = tails.map((tail) => (tail === '\n' || tail.length > TAIL_LENGTH_MAX ? '' : tail));
  if (lookups.every((tail) => tail === '')) return [];
  const most = project === undefined ? PHRASES_PER_TAIL_MAX : PHRASES_PER_TAIL_IN_PROJECT_MAX;
  const phrases = await query<PlacedPhrase>(pool, RECALL[by], [id, lookups, most, project !== undefined]);
  return project === undefined ? phrases : phrasesIn(project, phrases, { begun: tails[0] !== '' });
}

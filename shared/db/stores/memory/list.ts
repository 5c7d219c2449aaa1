import { type ObjectQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Episode } from '../../entities/memory/episode.ts';
import { Fact } from '../../entities/memory/fact.ts';
import { RawMemory } from '../../entities/memory/raw.ts';

/** Which rows of a tier to list, and from where on. */
export interface ListTerms {
  limit: number;
  /** The last row of the previous page. */
  after?: Position | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  tag?: string | undefined;
  /** Words, part of a word, or words that are nearly these. */
  q?: string | undefined;
}

/** A row's place in its list, which it keeps while others come and go. */
export interface Position {
  at: Date;
  id: string;
}

interface OfSession {
  sessionId?: string | undefined;
}

/** By when it happened, newest first. */
export function listRaw(
  em: EntityManager,
  accountId: string,
  { sessionId, ...terms }: ListTerms & OfSession,
): Promise<RawMemory[]> {
  const narrowing = narrow<RawMemory>('occurredAt', (row) => `${row}.content`, terms);
  const ofSession = sessionId === undefined ? [] : [{ sessionId }];
  return em.find(
    RawMemory,
    { account: accountId, $and: [...narrowing, ...ofSession] },
    { orderBy: { occurredAt: 'desc', id: 'desc' }, limit: terms.limit },
  );
}

/** By their end, newest first. An episode is of a session when one of its raw rows is. */
export function listEpisodes(
  em: EntityManager,
  accountId: string,
  { sessionId, ...terms }: ListTerms & OfSession,
): Promise<Episode[]> {
  const text = (row: string) => `(${row}.title || ' ' || ${row}.summary)`;
  const narrowing = narrow<Episode>('endedAt', text, terms);
  const ofSession = sessionId === undefined ? [] : [condition<Episode>(OF_SESSION, [sessionId])];
  return em.find(
    Episode,
    { account: accountId, $and: [...narrowing, ...ofSession] },
    { orderBy: { endedAt: 'desc', id: 'desc' }, limit: terms.limit },
  );
}

const OF_SESSION = (row: string) => `exists (
  select from memory_links l join raw_memories r on r.id = l.to_id
   where l.account_id = ${row}.account_id and l.from_id = ${row}.id and r.session_id = ?)`;

/** By when they were first stated, newest first: the present wordings, or the former ones of one fact. */
export function listFacts(
  em: EntityManager,
  accountId: string,
  { revisionOf = null, ...terms }: ListTerms & { revisionOf?: string | null | undefined },
): Promise<Fact[]> {
  const narrowing = narrow<Fact>('createdAt', (row) => `${row}.text`, terms);
  return em.find(
    Fact,
    { account: accountId, revisionOf, $and: narrowing },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: terms.limit },
  );
}

/** `text` is the expression of the tier's search indexes. */
function narrow<Row extends object>(
  time: string,
  text: (row: string) => string,
  { after, since, until, tag, q }: ListTerms,
): ObjectQuery<Row>[] {
  const conditions: object[] = [];
  if (since !== undefined) conditions.push({ [time]: { $gte: since } });
  if (until !== undefined) conditions.push({ [time]: { $lt: until } });
  if (tag !== undefined) conditions.push(condition((row) => `${row}.tags @> array[?]::text[]`, [tag]));
  if (q !== undefined) conditions.push(matching(text, q));
  if (after !== undefined)
    conditions.push({
      [time]: { $lte: after.at },
      $or: [{ [time]: { $lt: after.at } }, { id: { $lt: after.id } }],
    });
  return conditions as ObjectQuery<Row>[];
}

/**
 * Has the very characters, or all of the words, or something that is nearly each of the words. The cheapest to check comes
 * first.
 */
function matching(text: (row: string) => string, q: string): object {
  const words = q.split(/\s+/u).filter(Boolean);
  const sql = (row: string) => {
    const stored = `search_text(${text(row)})`;
    const nearly = words.map(() => `search_text(?) <% ${stored}`).join(' and ') || 'false';
    return `(${stored} like '%' || search_text(?) || '%'
      or to_tsvector('simple', ${stored}) @@ websearch_to_tsquery('simple', search_text(?)) or (${nearly}))`;
  };
  return condition(sql, [q.replaceAll(/[\\%_]/g, '\\$&'), q, ...words]);
}

/** A condition in SQL, given the name of the row in its statement. */
function condition<Row extends object>(sql: (row: string) => string, values: unknown[]): ObjectQuery<Row> {
  return { [raw(sql, values)]: [] } as ObjectQuery<Row>;
}

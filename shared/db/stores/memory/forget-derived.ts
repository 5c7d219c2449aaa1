import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { idsOf } from '../../../ids.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { Episode, Fact, MemoryLink } from '../../entities/memory.ts';
import { inPages } from '../../steps.ts';
import { readMemoryTexts } from '../replies/redact.ts';
import { forgetStatements } from './forgotten.ts';
import { DERIVED_FROM } from './links.ts';
import { type DeletedTexts, findRepeating, prepareComparison } from './repeats.ts';

type DerivedCounts = Pick<DeletionReceipt, 'episodes' | 'facts'>;

const TEXTS_AT_ONCE = 100;
/** Lets the memory of rows be freed page by page. */
const UNKEPT = { disableIdentityMap: true };

interface DeletedRow {
  tier: 'raw' | 'episode';
  id: string;
  texts: string[];
  saidAt?: Date;
  timeUp: AbortSignal;
}

/**
 * Deletes the rows that were derived only from a deleted row. Erases the texts of other derived rows if they may repeat
 * its text. An episode that lost a raw row loses its text in any case, unless the person wrote it. A row without a text
 * is stale until its text is rewritten.
 */
export async function forgetDerived(
  tx: EntityManager,
  accountId: string,
  { tier, id, texts, saidAt, timeUp }: DeletedRow,
): Promise<DerivedCounts> {
  const derivedIds = await dropLinksTo(tx, accountId, [id]);
  if (saidAt !== undefined) await postponeBeginnings(tx, accountId, derivedIds.facts, saidAt);
  if (tier === 'raw') await unlinkUnquotedEpisodes(tx, accountId, derivedIds);
  const orphans = await orphansOf(tx, accountId, derivedIds.episodes);
  const orphanTexts = await readMemoryTexts(tx, accountId, orphans);
  await tx.nativeDelete(Episode, { account: accountId, id: { $in: orphans } });
  const remainingEpisodes = [...new Set(derivedIds.episodes).difference(new Set(orphans))];
  const staleCount = await forgetEpisodes(tx, accountId, remainingEpisodes, prepareComparison(texts, timeUp));
  const derivedFromOrphans = await dropLinksTo(tx, accountId, orphans);
  const deleted = tier === 'episode' ? [id] : orphans;
  await tx.nativeDelete(MemoryLink, { account: accountId, fromId: { $in: deleted } });
  const facts = await forgetFacts(tx, accountId, {
    lostQuoteFacts: tier === 'raw' ? derivedIds.facts : [],
    factIds: [
      ...derivedIds.facts,
      ...derivedFromOrphans.facts,
      ...(await factsOf(tx, accountId, remainingEpisodes)),
    ],
    deletedTexts: prepareComparison(
      orphanTexts && [...texts, ...orphanTexts.map(({ text }) => text)],
      timeUp,
    ),
    // The words of a deleted episode are still in its raw rows.
    keepsRaw: tier === 'episode',
  });
  return { episodes: { deleted: orphans.length, stale: staleCount }, facts };
}

interface DerivedIds {
  episodes: string[];
  facts: string[];
}

/** Deletes the links to these rows, and returns the ids of the rows that were derived from them. */
async function dropLinksTo(tx: EntityManager, accountId: string, ids: string[]): Promise<DerivedIds> {
  const toThese = { account: accountId, toId: { $in: ids } };
  const links = await tx
    .createQueryBuilder(MemoryLink)
    .select(['fromId', 'fromTier'])
    .where(toThese)
    .execute('all');
  await tx.nativeDelete(MemoryLink, toThese);
  const from = (tier: string) =>
    links.filter(({ fromTier }) => fromTier === tier).map(({ fromId }) => fromId);
  return { episodes: from('episode'), facts: from('fact') };
}

/** Unlinks facts from the episodes of a deleted raw row, unless a fact quotes another row of the episode. */
async function unlinkUnquotedEpisodes(tx: EntityManager, accountId: string, { facts, episodes }: DerivedIds) {
  await tx.execute(
    `delete from memory_links f
      where f.account_id = ? and f.from_id = any (array[?]::uuid[]) and f.to_id = any (array[?]::uuid[])
        and not exists (select from memory_links q join memory_links e using (account_id, to_id)
                         where q.account_id = f.account_id and q.from_id = f.from_id and q.quote is not null
                           and e.from_id = f.to_id)`,
    [accountId, facts, episodes],
  );
}

/**
 * Postpones the beginning of facts that began when a deleted row was said. They now begin with the earliest remaining
 * row that they quote, or at their end if that is earlier. The facts that they superseded now end at the new beginning,
 * but not before they begin themselves.
 */
async function postponeBeginnings(tx: EntityManager, accountId: string, facts: string[], saidAt: Date) {
  await tx.execute(
    `with changed as (
       update facts f set valid_from = least(s.since, f.valid_to), updated_at = now()
         from (select l.from_id as id, min(r.occurred_at) as since
                 from memory_links l join raw_memories r on r.id = l.to_id
                where l.account_id = ? and l.from_id = any (array[?]::uuid[])
                  and l.relation = ? and l.quote is not null
                group by l.from_id) s
        where f.account_id = ? and f.id = s.id and f.valid_from = ?
       returning f.id, f.valid_from)
     update facts f
        set valid_to = case when c.valid_from < f.valid_from then f.valid_from else c.valid_from end, updated_at = now()
       from changed c where f.account_id = ? and f.superseded_by = c.id and f.valid_to = ?`,
    [accountId, facts, DERIVED_FROM, accountId, saidAt, accountId, saidAt],
  );
}

/** Returns the ids of those episodes that have no raw row left. */
async function orphansOf(tx: EntityManager, accountId: string, ids: string[]): Promise<string[]> {
  const orphans = await tx.execute<{ id: string }[]>(
    `select e.id from episodes e
      where e.account_id = ? and e.id = any (array[?]::uuid[])
        and not exists (select from memory_links l
                         where l.account_id = e.account_id and l.from_id = e.id and l.relation = ?)`,
    [accountId, ids, DERIVED_FROM],
  );
  return idsOf(orphans);
}

/**
 * Erases the texts of episodes that lost a raw row. Texts that the person wrote are erased only if they may repeat
 * deleted texts. Returns the number of episodes whose texts it erased.
 */
async function forgetEpisodes(
  tx: EntityManager,
  accountId: string,
  ids: string[],
  deletedTexts: DeletedTexts | undefined,
): Promise<number> {
  let count = 0;
  for (const page of inPages(ids, TEXTS_AT_ONCE)) {
    const episodes = await tx.find(Episode, { account: accountId, id: { $in: page } }, UNKEPT);
    const ownEpisodes = episodes.filter(({ origin }) => origin === 'human');
    const texts = ownEpisodes.map(({ id, title, summary, tags }) => ({
      id,
      text: [title, summary, ...tags].join('\n'),
    }));
    const promotedIds = idsOf(episodes.filter(({ origin }) => origin !== 'human'));
    const staleIds = [...promotedIds, ...(await findRepeating(tx, accountId, texts, deletedTexts))];
    const erased = { title: '', summary: '', tags: [], staleAt: raw('now()'), updatedAt: raw('now()') };
    await tx.nativeUpdate(Episode, { account: accountId, id: { $in: staleIds } }, erased);
    count += staleIds.length;
  }
  return count;
}

async function factsOf(tx: EntityManager, accountId: string, ids: string[]): Promise<string[]> {
  const facts = await tx.execute<{ id: string }[]>(
    `select distinct from_id as id from memory_links
      where account_id = ? and to_id = any (array[?]::uuid[]) and from_tier = 'fact'`,
    [accountId, ids],
  );
  return idsOf(facts);
}

interface AffectedFacts {
  lostQuoteFacts: string[];
  /** Facts derived from rows that were deleted or that lost a source. */
  factIds: string[];
  deletedTexts: DeletedTexts | undefined;
  /** True if no raw row was deleted, so that facts with raw sources keep their texts. */
  keepsRaw: boolean;
}

interface FactEvidence {
  id: string;
  hasSource: boolean;
  hasRaw: boolean;
  hasHuman: boolean;
}

/**
 * Deletes facts that have lost their evidence, and erases the texts of the others if they may repeat deleted texts. For
 * a fact that lost a quote, only raw rows that the person wrote are evidence; for other facts, any remaining source.
 */
async function forgetFacts(
  tx: EntityManager,
  accountId: string,
  { lostQuoteFacts, factIds, deletedTexts, keepsRaw }: AffectedFacts,
): Promise<DerivedCounts['facts']> {
  const facts = await tx.execute<FactEvidence[]>(FACT_EVIDENCE, [accountId, factIds]);
  const lostQuoteIds = new Set(lostQuoteFacts);
  const isAttested = ({ id, hasSource, hasHuman }: FactEvidence) =>
    lostQuoteIds.has(id) ? hasHuman : hasSource;
  const unattestedIds = idsOf(facts.filter((fact) => !isAttested(fact)));
  await forgetStatements(tx, accountId, unattestedIds);
  const { deleted, restored } = await deleteFacts(tx, accountId, unattestedIds);
  const doubtfulIds = idsOf(facts.filter((fact) => isAttested(fact) && !(keepsRaw && fact.hasRaw)));
  let stale = 0;
  for (const page of inPages(doubtfulIds, TEXTS_AT_ONCE))
    stale += await eraseRepeating(tx, accountId, page, deletedTexts);
  return { deleted: deleted.length, stale, restored };
}

/** Returns the number of facts whose texts it erased, not counting former wordings. */
async function eraseRepeating(
  tx: EntityManager,
  accountId: string,
  ids: string[],
  deletedTexts: DeletedTexts | undefined,
): Promise<number> {
  const facts = await tx.find(Fact, { account: accountId, id: { $in: ids } }, UNKEPT);
  const texts = facts.map(({ id, text, tags }) => ({ id, text: [text, ...tags].join('\n') }));
  const repeating = await findRepeating(tx, accountId, texts, deletedTexts);
  const erased = { text: '', tags: [], slot: null, staleAt: raw('now()'), updatedAt: raw('now()') };
  await tx.nativeUpdate(Fact, { account: accountId, id: { $in: repeating } }, erased);
  return facts.filter(({ id, revisionOf }) => revisionOf === null && repeating.includes(id)).length;
}

const FACT_EVIDENCE = `
  select f.id, count(l.to_id) > 0 as "hasSource", count(r.id) > 0 as "hasRaw",
         count(r.id) filter (where r.role = 'human' and r.origin = 'human') > 0 as "hasHuman"
    from facts f
    left join memory_links l on l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}'
    left join raw_memories r on r.id = l.to_id
   where f.account_id = ? and f.id = any (array[?]::uuid[])
   group by f.id`;

interface DeletedFact {
  id: string;
  /** The fact that superseded this one or will end it. */
  successor: string | null;
  revisionOf: string | null;
}

/**
 * Deletes facts, their former wordings, and their links except `FORGOTTEN` ones. Facts that they superseded become
 * current again, or get the next successor. `deleted` leaves out former wordings; `restored` is the number of facts
 * that are valid again.
 */
export async function deleteFacts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<{ deleted: string[]; restored: number }> {
  if (ids.length === 0) return { deleted: [], restored: 0 };
  const facts = await tx.execute<DeletedFact[]>(
    `select id, coalesce(superseded_by, ended_by) as successor, revision_of as "revisionOf" from facts
      where account_id = ? and id = any (array[?]::uuid[])
     union
     select id, superseded_by as successor, revision_of from facts
      where account_id = ? and superseded_by = any (array[?]::uuid[]) and revision_of = superseded_by`,
    [accountId, ids, accountId, ids],
  );
  const deletedIds = idsOf(facts);
  const restored = await restoreSuperseded(tx, accountId, facts);
  const linksOfDeleted = { account: accountId, fromId: { $in: deletedIds }, relation: DERIVED_FROM };
  await tx.nativeDelete(MemoryLink, linksOfDeleted);
  await tx.nativeDelete(Fact, { account: accountId, id: { $in: deletedIds } });
  return { deleted: idsOf(facts.filter(({ revisionOf }) => revisionOf === null)), restored };
}

/**
 * Repairs the facts that a deleted fact had superseded. Each gets the next successor that remains; without one it is
 * current again. An end that came from the deleted fact goes, unless the next successor begins in the future: then the
 * fact ends there. Returns the number of facts that are valid again.
 */
async function restoreSuperseded(
  tx: EntityManager,
  accountId: string,
  deletedFacts: readonly DeletedFact[],
): Promise<number> {
  const successors = new Map(deletedFacts.map(({ id, successor }) => [id, successor]));
  const changes = deletedFacts.map(({ id }) => ({ id, successor: remainingSuccessor(successors, id) }));
  const ids = idsOf(deletedFacts);
  let restored = 0;
  for (const statement of [RESTORE_SUPERSEDED, RESTORE_ENDED]) {
    const rows = await tx.execute<{ holds: boolean }[]>(statement, [JSON.stringify(changes), accountId, ids]);
    restored += rows.filter(({ holds }) => holds).length;
  }
  return restored;
}

/**
 * Selects facts whose successor in this column is deleted, each with its next remaining successor unless that is the
 * fact itself.
 */
const successorChanges = (column: 'superseded_by' | 'ended_by') => `(
  select f.id, n.id as successor, n.valid_from as ends_at, coalesce(n.valid_from > now(), false) as ends_later,
         case when s.valid_from < f.valid_from then f.valid_from else s.valid_from end as ended_at
    from json_to_recordset(?::json) c (id uuid, successor uuid)
    join facts s on s.id = c.id join facts f on f.${column} = s.id
    left join facts n on n.id = nullif(c.successor, f.id)) c`;

/** Condition for facts that are valid now, with or without a text. */
const IS_VALID_NOW = `f.superseded_by is null
  and coalesce(f.valid_from <= now(), true) and coalesce(f.valid_to > now(), true)`;

const RESTORE_SUPERSEDED = `
  update facts f
     set superseded_by = case when not c.ends_later then c.successor end,
         ended_by = case when c.ends_later then c.successor else f.ended_by end,
         invalidated_at = case when c.successor is not null and not c.ends_later then f.invalidated_at end,
         valid_to = case when c.ends_later then least(nullif(f.valid_to, c.ended_at), c.ends_at)
                         when f.valid_to is distinct from c.ended_at then f.valid_to
                         else (select e.valid_from from facts e where e.id = f.ended_by) end,
         updated_at = now()
    from ${successorChanges('superseded_by')}
   where f.account_id = ? and f.id = c.id and f.id <> all (array[?]::uuid[])
  returning ${IS_VALID_NOW} as holds`;

/** A fact with an `ended_by` stays current until its end, so a deletion restores it only if the end has passed. */
const RESTORE_ENDED = `
  update facts f
     set ended_by = c.successor,
         valid_to = case when f.valid_to is distinct from c.ended_at then f.valid_to else c.ends_at end,
         updated_at = now()
    from ${successorChanges('ended_by')}
   where f.account_id = ? and f.id = c.id and f.id <> all (array[?]::uuid[])
  returning ${IS_VALID_NOW} and c.ended_at <= now() as holds`;

/**
 * Follows a chain of successors to the first fact that is not being deleted. Null if there is none, or if the chain is
 * circular, which promotion can cause by `ended_by`.
 */
function remainingSuccessor(successors: Map<string, string | null>, id: string): string | null {
  const visitedIds = new Set<string>();
  let last: string | null = id;
  while (last !== null && successors.has(last)) {
    visitedIds.add(last);
    const next: string | null = successors.get(last) ?? null;
    last = next !== null && visitedIds.has(next) ? null : next;
  }
  // Remembers the result for all facts on the way: a chain may have thousands, and no part is walked twice.
  for (const one of visitedIds) successors.set(one, last);
  return last;
}

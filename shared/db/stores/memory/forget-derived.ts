import type { EntityManager } from '@mikro-orm/postgresql';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { inPages } from '../../steps.ts';
import { textsOf } from '../replies/redact.ts';
import { DERIVED_FROM } from './links.ts';
import { compareWith, type DeletedTexts, findRepeating } from './repeats.ts';

type Derived = Pick<DeletionReceipt, 'episodes' | 'facts'>;

/** Derived rows whose texts are read at once. */
const AT_ONCE = 100;

/** Removes what was derived from a deleted row alone, and erases the text of what may repeat it. */
export async function forgetDerived(
  tx: EntityManager,
  accountId: string,
  { tier, id, texts, saidAt }: { tier: 'raw' | 'episode'; id: string; texts: string[]; saidAt?: Date },
): Promise<Derived> {
  const touched = await dropLinksTo(tx, accountId, [id]);
  if (saidAt !== undefined) await beginLater(tx, accountId, touched.facts, saidAt);
  if (tier === 'raw') await dropUnquoted(tx, accountId, touched);
  const orphans = await orphansOf(tx, accountId, touched.episodes);
  const said = await textsOf(tx, accountId, orphans);
  await tx.execute(
    `delete from episodes where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(orphans)],
  );
  const left = [...new Set(touched.episodes).difference(new Set(orphans))];
  const stale = await forgetEpisodes(tx, accountId, left, compareWith(texts));
  const lost = await dropLinksTo(tx, accountId, orphans);
  await tx.execute(
    `delete from memory_links where account_id = ? and from_id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(tier === 'episode' ? [id] : orphans)],
  );
  const facts = await forgetFacts(tx, accountId, {
    unquoted: tier === 'raw' ? touched.facts : [],
    touched: [...touched.facts, ...lost.facts, ...(await factsOf(tx, accountId, left))],
    lost: compareWith(said && [...texts, ...said.map(({ text }) => text)]),
    // The words of an episode that was deleted are still in its raw rows.
    keepsRaw: tier === 'episode',
  });
  return { episodes: { deleted: orphans.length, stale }, facts };
}

/** Ids of rows that were derived from a row that is gone. */
interface Touched {
  episodes: string[];
  facts: string[];
}

/** The rows that were derived from these. */
async function dropLinksTo(tx: EntityManager, accountId: string, ids: string[]): Promise<Touched> {
  const links = await tx.execute<{ id: string; tier: string }[]>(
    `delete from memory_links where account_id = ? and to_id in (select json_array_elements_text(?::json)::uuid)
     returning from_id as id, from_tier as tier`,
    [accountId, JSON.stringify(ids)],
  );
  const from = (tier: string) => links.filter((link) => link.tier === tier).map(({ id }) => id);
  return { episodes: from('episode'), facts: from('fact') };
}

/** Removes the links of facts to episodes of a deleted row in which nothing that they quote is left. */
async function dropUnquoted(tx: EntityManager, accountId: string, { facts, episodes }: Touched) {
  await tx.execute(
    `delete from memory_links f
      where f.account_id = ? and f.from_id in (select json_array_elements_text(?::json)::uuid)
        and f.to_id in (select json_array_elements_text(?::json)::uuid)
        and not exists (select from memory_links q join memory_links e using (account_id, to_id)
                         where q.account_id = f.account_id and q.from_id = f.from_id and q.quote is not null
                           and e.from_id = f.to_id)`,
    [accountId, JSON.stringify(facts), JSON.stringify(episodes)],
  );
}

/** Facts that hold since a deleted row was said hold since the earliest row that still says so, and what they replaced until then. */
async function beginLater(tx: EntityManager, accountId: string, facts: string[], saidAt: Date) {
  await tx.execute(
    `with changed as (
       update facts f set valid_from = s.since, updated_at = now()
         from (select l.from_id as id, min(r.occurred_at) as since
                 from memory_links l join raw_memories r on r.id = l.to_id
                where l.account_id = ? and l.from_id in (select json_array_elements_text(?::json)::uuid)
                  and l.relation = ? and l.quote is not null
                group by l.from_id) s
        where f.account_id = ? and f.id = s.id and f.valid_from = ?
       returning f.id, f.valid_from)
     update facts f set valid_to = c.valid_from, updated_at = now()
       from changed c where f.account_id = ? and f.superseded_by = c.id and f.valid_to = ?`,
    [accountId, JSON.stringify(facts), DERIVED_FROM, accountId, saidAt, accountId, saidAt],
  );
}

/** The episodes of which no raw row is left. */
async function orphansOf(tx: EntityManager, accountId: string, ids: string[]): Promise<string[]> {
  const orphans = await tx.execute<{ id: string }[]>(
    `select e.id from episodes e
      where e.account_id = ? and e.id in (select json_array_elements_text(?::json)::uuid)
        and not exists (select from memory_links l
                         where l.account_id = e.account_id and l.from_id = e.id and l.relation = ?)`,
    [accountId, JSON.stringify(ids), DERIVED_FROM],
  );
  return orphans.map(({ id }) => id);
}

/**
 * Episodes that lost one of their raw rows: a summary that nobody wrote by hand is stale in any case. Returns how many
 * are.
 */
async function forgetEpisodes(
  tx: EntityManager,
  accountId: string,
  ids: string[],
  lost: DeletedTexts | undefined,
): Promise<number> {
  let count = 0;
  for (const some of inPages(ids, AT_ONCE)) {
    const episodes = await tx.execute<
      { id: string; title: string; summary: string; tags: string[]; isOwn: boolean }[]
    >(
      `select e.id, e.title, e.summary, e.tags, e.origin = 'human' as "isOwn" from episodes e
        where e.account_id = ? and e.id in (select json_array_elements_text(?::json)::uuid)`,
      [accountId, JSON.stringify(some)],
    );
    const own = episodes.filter(({ isOwn }) => isOwn);
    const texts = own.map(({ id, title, summary, tags }) => ({
      id,
      text: [title, summary, ...tags].join('\n'),
    }));
    const others = episodes.filter(({ isOwn }) => !isOwn).map(({ id }) => id);
    const stale = [...others, ...(await findRepeating(tx, accountId, texts, lost))];
    await tx.execute(
      `update episodes set title = '', summary = '', tags = '{}', stale_at = now(), updated_at = now()
        where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
      [accountId, JSON.stringify(stale)],
    );
    count += stale.length;
  }
  return count;
}

async function factsOf(tx: EntityManager, accountId: string, ids: string[]): Promise<string[]> {
  const facts = await tx.execute<{ id: string }[]>(
    `select distinct from_id as id from memory_links
      where account_id = ? and to_id in (select json_array_elements_text(?::json)::uuid) and from_tier = 'fact'`,
    [accountId, JSON.stringify(ids)],
  );
  return facts.map(({ id }) => id);
}

interface LostFacts {
  /** Facts that lost a quote. */
  unquoted: string[];
  touched: string[];
  lost: DeletedTexts | undefined;
  keepsRaw: boolean;
}

interface FactEvidence {
  id: string;
  hasSource: boolean;
  hasRaw: boolean;
  hasHuman: boolean;
}

/**
 * A fact stays as long as something attests it: another source, and for one that was quoted from raw rows, another row
 * that a person wrote.
 */
async function forgetFacts(
  tx: EntityManager,
  accountId: string,
  { unquoted, touched, lost, keepsRaw }: LostFacts,
): Promise<Derived['facts']> {
  const facts = await tx.execute<FactEvidence[]>(EVIDENCE, [accountId, JSON.stringify(touched)]);
  const quoted = new Set(unquoted);
  const isAttested = ({ id, hasSource, hasHuman }: FactEvidence) => (quoted.has(id) ? hasHuman : hasSource);
  const unattested = facts.filter((fact) => !isAttested(fact)).map(({ id }) => id);
  const { deleted, restored } = await deleteFacts(tx, accountId, unattested);
  const doubtful = facts.filter((fact) => isAttested(fact) && !(keepsRaw && fact.hasRaw)).map(({ id }) => id);
  let stale = 0;
  for (const some of inPages(doubtful, AT_ONCE)) stale += await eraseRepeating(tx, accountId, some, lost);
  return { deleted: deleted.length, stale, restored };
}

/** Erases the texts of facts that may repeat what was deleted. Returns how many, former wordings left out. */
async function eraseRepeating(
  tx: EntityManager,
  accountId: string,
  ids: string[],
  lost: DeletedTexts | undefined,
): Promise<number> {
  const facts = await tx.execute<{ id: string; text: string; tags: string[] }[]>(
    `select id, text, tags from facts where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(ids)],
  );
  const texts = facts.map(({ id, text, tags }) => ({ id, text: [text, ...tags].join('\n') }));
  const erased = await tx.execute<{ isFormer: boolean }[]>(
    `update facts set text = '', tags = '{}', slot = null, stale_at = now(), updated_at = now()
      where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)
     returning revision_of is not null as "isFormer"`,
    [accountId, JSON.stringify(await findRepeating(tx, accountId, texts, lost))],
  );
  return erased.filter(({ isFormer }) => !isFormer).length;
}

const EVIDENCE = `
  select f.id, count(l.to_id) > 0 as "hasSource", count(r.id) > 0 as "hasRaw",
         count(r.id) filter (where r.role = 'human' and r.origin = 'human') > 0 as "hasHuman"
    from facts f
    left join memory_links l on l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}'
    left join raw_memories r on r.id = l.to_id
   where f.account_id = ? and f.id in (select json_array_elements_text(?::json)::uuid)
   group by f.id`;

interface DeletedFact {
  id: string;
  supersededBy: string | null;
  revisionOf: string | null;
}

/**
 * Deletes facts with their former wordings and links. What they superseded holds again, or is superseded by what
 * superseded them. Returns the ids of the deleted, former wordings left out, and how many hold again.
 */
export async function deleteFacts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<{ deleted: string[]; restored: number }> {
  if (ids.length === 0) return { deleted: [], restored: 0 };
  const named = JSON.stringify(ids);
  const facts = await tx.execute<DeletedFact[]>(
    `select id, superseded_by as "supersededBy", revision_of as "revisionOf" from facts
      where account_id = ?
        and (id in (select json_array_elements_text(?::json)::uuid)
          or (superseded_by in (select json_array_elements_text(?::json)::uuid) and revision_of = superseded_by))`,
    [accountId, named, named],
  );
  const gone = JSON.stringify(facts.map(({ id }) => id));
  const restored = await restoreSuperseded(tx, accountId, facts);
  for (const statement of [
    `delete from memory_links where account_id = ? and from_id in (select json_array_elements_text(?::json)::uuid)
        and relation = '${DERIVED_FROM}'`,
    `delete from facts where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
  ])
    await tx.execute(statement, [accountId, gone]);
  const deleted = facts.filter(({ revisionOf }) => revisionOf === null).map(({ id }) => id);
  return { deleted, restored };
}

/** An end of validity that a fact got from the beginning of its successor goes with the successor. */
async function restoreSuperseded(
  tx: EntityManager,
  accountId: string,
  gone: readonly DeletedFact[],
): Promise<number> {
  const successors = new Map(gone.map(({ id, supersededBy }) => [id, supersededBy]));
  const changes = gone.map(({ id }) => ({ id, successor: lastSuccessor(successors, id) }));
  const restored = await tx.execute<{ isCurrent: boolean }[]>(
    `update facts f
        set superseded_by = c.successor,
            invalidated_at = case when c.successor is not null then f.invalidated_at end,
            valid_to = case when f.valid_to is distinct from s.valid_from then f.valid_to end,
            updated_at = now()
       from json_to_recordset(?::json) c (id uuid, successor uuid) join facts s on s.id = c.id
      where f.account_id = ? and f.superseded_by = c.id and f.id not in (select json_array_elements_text(?::json)::uuid)
      returning f.superseded_by is null as "isCurrent"`,
    [JSON.stringify(changes), accountId, JSON.stringify(gone.map(({ id }) => id))],
  );
  return restored.filter(({ isCurrent }) => isCurrent).length;
}

/** The fact that supersedes another once those that are being deleted are gone. */
function lastSuccessor(successors: Map<string, string | null>, id: string): string | null {
  const passed: string[] = [];
  let last: string | null = id;
  while (last !== null && successors.has(last)) {
    passed.push(last);
    last = successors.get(last) ?? null;
  }
  // A chain may have thousands of facts: nobody walks the same part of it twice.
  for (const one of passed) successors.set(one, last);
  return last;
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { inPages } from '../../../domain/pages.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { textsOf } from '../replies/redact.ts';
import { deleteFacts } from './delete-facts.ts';
import { DERIVED_FROM } from './links.ts';
import { compareWith, findRepeating, type Lost } from './repeats.ts';

/** A row that was deleted, and what it said. */
interface Forgotten {
  tier: 'raw' | 'episode';
  id: string;
  texts: string[];
}

type Derived = Pick<DeletionReceipt, 'episodes' | 'facts'>;

/** Derived rows whose texts are read at once. */
const AT_ONCE = 100;

/** Removes what was derived from a deleted row alone, and erases the text of what may repeat it. */
export async function forgetDerived(
  tx: EntityManager,
  accountId: string,
  { tier, id, texts }: Forgotten,
): Promise<Derived> {
  const touched = await dropLinksTo(tx, accountId, [id]);
  const orphans = await orphansOf(tx, accountId, touched.episodes);
  const said = await textsOf(tx, accountId, orphans);
  await deleteEpisodes(tx, accountId, orphans);
  const left = [...new Set(touched.episodes).difference(new Set(orphans))];
  const stale = await forgetEpisodes(tx, accountId, left, compareWith(texts));
  const lost = await dropLinksTo(tx, accountId, orphans);
  await dropLinksFrom(tx, accountId, tier === 'episode' ? [id] : orphans);
  const through = await factsOf(tx, accountId, left);
  const facts = await forgetFacts(tx, accountId, {
    unquoted: tier === 'raw' ? touched.facts : [],
    touched: [...touched.facts, ...lost.facts, ...through],
    lost: compareWith(said && [...texts, ...said.map(({ text }) => text)]),
    // The words of an episode that was deleted are still in its raw rows.
    keepsRaw: tier === 'episode',
  });
  return { episodes: { deleted: orphans.length, stale }, facts };
}

/** The rows that were derived from these. */
async function dropLinksTo(tx: EntityManager, accountId: string, ids: string[]) {
  const links = await tx.execute<{ id: string; tier: string }[]>(
    `delete from memory_links where account_id = ? and to_id in (select json_array_elements_text(?::json)::uuid)
     returning from_id as id, from_tier as tier`,
    [accountId, JSON.stringify(ids)],
  );
  const from = (tier: string) => links.filter((link) => link.tier === tier).map(({ id }) => id);
  return { episodes: from('episode'), facts: from('fact') };
}

async function dropLinksFrom(tx: EntityManager, accountId: string, ids: string[]): Promise<void> {
  await tx.execute(
    `delete from memory_links where account_id = ? and from_id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(ids)],
  );
}

/** Those of the episodes that no raw row is left of. */
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

async function deleteEpisodes(tx: EntityManager, accountId: string, ids: string[]): Promise<void> {
  await tx.execute(
    `delete from episodes where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(ids)],
  );
}

interface EpisodeText {
  id: string;
  title: string;
  summary: string;
  tags: string[];
  isOwn: boolean;
}

/** Episodes that lost one of their raw rows: a summary that nobody wrote by hand is stale in any case. Returns how many are. */
async function forgetEpisodes(
  tx: EntityManager,
  accountId: string,
  ids: string[],
  lost: Lost | undefined,
): Promise<number> {
  let count = 0;
  for (const some of inPages(ids, AT_ONCE)) {
    const episodes = await tx.execute<EpisodeText[]>(
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
  /** Those that lost a quote. */
  unquoted: string[];
  touched: string[];
  lost: Lost | undefined;
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
  lost: Lost | undefined,
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

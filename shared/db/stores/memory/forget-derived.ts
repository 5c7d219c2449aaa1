import type { EntityManager } from '@mikro-orm/postgresql';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { deleteFacts } from './delete-facts.ts';
import { DERIVED_FROM } from './links.ts';
import { findRepeating } from './repeats.ts';

/** A row that was deleted, and what it said. */
interface Forgotten {
  tier: 'raw' | 'episode';
  id: string;
  texts: string[];
}

type Derived = Pick<DeletionReceipt, 'episodes' | 'facts'>;

/** Removes what was derived from a deleted row alone, and erases the text of what may repeat it. */
export async function forgetDerived(
  tx: EntityManager,
  accountId: string,
  { tier, id, texts }: Forgotten,
): Promise<Derived> {
  const touched = await dropLinksTo(tx, accountId, [id]);
  const episodes = await forgetEpisodes(tx, accountId, touched.episodes, texts);
  const orphans = episodes.deleted.map((episode) => episode.id);
  const lost = await dropLinksTo(tx, accountId, orphans);
  await dropLinksFrom(tx, accountId, tier === 'episode' ? [id] : orphans);
  const through = await factsOf(tx, accountId, episodes.left);
  const facts = await forgetFacts(tx, accountId, {
    unquoted: tier === 'raw' ? touched.facts : [],
    touched: [...touched.facts, ...lost.facts, ...through],
    texts: [...texts, ...episodes.deleted.flatMap((episode) => episode.texts)],
    // The words of an episode that was deleted are still in its raw rows.
    keepsRaw: tier === 'episode',
  });
  return { episodes: { deleted: episodes.deleted.length, stale: episodes.stale }, facts };
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

interface EpisodeText {
  id: string;
  title: string;
  summary: string;
  isOwn: boolean;
}

/** Episodes that lost a raw row: without another one they go; a summary that nobody wrote by hand is stale in any case. */
async function forgetEpisodes(tx: EntityManager, accountId: string, ids: string[], texts: string[]) {
  const left = await tx.execute<(EpisodeText & { hasSource: boolean; tags: string[] })[]>(
    `select e.id, e.title, e.summary, e.tags, e.origin = 'human' as "isOwn",
            exists (select from memory_links l
                     where l.account_id = e.account_id and l.from_id = e.id and l.relation = ?) as "hasSource"
       from episodes e where e.account_id = ? and e.id in (select json_array_elements_text(?::json)::uuid)`,
    [DERIVED_FROM, accountId, JSON.stringify(ids)],
  );
  const deleted = left.filter(({ hasSource }) => !hasSource);
  await tx.execute(
    `delete from episodes where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(deleted.map(({ id }) => id))],
  );
  const others = left.filter(({ hasSource }) => hasSource);
  const own = others.filter(({ isOwn }) => isOwn);
  const repeating = await findRepeating(
    tx,
    accountId,
    own.map(({ id, title, summary, tags }) => ({ id, text: [title, summary, ...tags].join('\n') })),
    texts,
  );
  const stale = others.filter(({ id, isOwn }) => !isOwn || repeating.includes(id)).map(({ id }) => id);
  await tx.execute(
    `update episodes set title = '', summary = '', tags = '{}', stale_at = now(), updated_at = now()
      where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(stale)],
  );
  return {
    deleted: deleted.map(({ id, title, summary }) => ({ id, texts: [title, summary] })),
    stale: stale.length,
    left: others.map(({ id }) => id),
  };
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
  texts: string[];
  keepsRaw: boolean;
}

interface FactEvidence {
  id: string;
  isFormer: boolean;
  text: string;
  tags: string[];
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
  { unquoted, touched, texts, keepsRaw }: LostFacts,
): Promise<Derived['facts']> {
  const facts = await tx.execute<FactEvidence[]>(EVIDENCE, [accountId, JSON.stringify(touched)]);
  const isAttested = ({ id, hasSource, hasHuman }: FactEvidence) =>
    unquoted.includes(id) ? hasHuman : hasSource;
  const unattested = facts.filter((fact) => !isAttested(fact)).map(({ id }) => id);
  const { deleted, restored } = await deleteFacts(tx, accountId, unattested);
  const doubtful = facts.filter((fact) => isAttested(fact) && !(keepsRaw && fact.hasRaw));
  const stale = await findRepeating(
    tx,
    accountId,
    doubtful.map(({ id, text, tags }) => ({ id, text: [text, ...tags].join('\n') })),
    texts,
  );
  await tx.execute(
    `update facts set text = '', tags = '{}', slot = null, stale_at = now(), updated_at = now()
      where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(stale)],
  );
  const former = facts.filter(({ id, isFormer }) => isFormer && stale.includes(id));
  return { deleted: deleted.length, stale: stale.length - former.length, restored };
}

const EVIDENCE = `
  select f.id, f.revision_of is not null as "isFormer", f.text, f.tags, count(l.to_id) > 0 as "hasSource", count(r.id) > 0 as "hasRaw",
         count(r.id) filter (where r.role = 'human' and r.origin = 'human') > 0 as "hasHuman"
    from facts f
    left join memory_links l on l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}'
    left join raw_memories r on r.id = l.to_id
   where f.account_id = ? and f.id in (select json_array_elements_text(?::json)::uuid)
   group by f.id`;

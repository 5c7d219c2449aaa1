import type { EntityManager } from '@mikro-orm/postgresql';
import type { Material } from '../../../domain/replies/material.ts';
import type { Pair } from '../../../domain/replies/vote.ts';

/** Replies that a prediction learns from: the latest. */
const PAIRS_MAX = 500;

/** The person's latest replies in their own words, each with the prompt that it answers, the latest first. */
export function readPairs(em: EntityManager, accountId: string): Promise<Pair[]> {
  return em.execute<Pair[]>(PAIRS, [accountId, PAIRS_MAX]);
}

/** A reply answers the prompt that it names, else the last one of the same agent in its session. */
const PAIRS = `
  select r.id, r.content as reply, coalesce(named.content, latest.content) as prompt
    from (
      select * from raw_memories
       where account_id = ? and kind = 'reply' and origin = 'human' order by occurred_at desc, id desc limit ?) r
    left join lateral (
      select q.content from raw_memories q
       where q.account_id = r.account_id and q.event_id = r.metadata ->> 'in_reply_to' and q.kind = 'prompt') named on true
    left join lateral (
      select q.content from raw_memories q
       where named.content is null and q.account_id = r.account_id and q.session_id = r.session_id
         and q.occurred_at <= r.occurred_at and q.kind = 'prompt' and q.agent is not distinct from r.agent
       order by q.occurred_at desc, q.id desc limit 1) latest on true
   where coalesce(named.content, latest.content) is not null
   order by r.occurred_at desc, r.id desc`;

/** An account's memory for a prediction, in one snapshot, with its revision. */
export interface MemoryBundle extends Omit<Material, 'examples'> {
  memoryRevision: number;
}

const FACTS_MAX = 20;
const EPISODES_MAX = 10;
const RAW_MAX = 50;

/** Reads it: the current facts, and the episodes and raw rows of the last `recencyMinutes`. */
export async function readBundle(
  em: EntityManager,
  accountId: string,
  recencyMinutes: number,
): Promise<MemoryBundle> {
  const limits = [FACTS_MAX, recencyMinutes, EPISODES_MAX, recencyMinutes, RAW_MAX];
  const [row] = await em.execute<{ bundle: MemoryBundle }[]>(BUNDLE, [...limits, accountId]);
  return row?.bundle ?? { memoryRevision: 0, profile: null, facts: [], episodes: [], raw: [] };
}

const BUNDLE = `
  select json_build_object(
    'memoryRevision', a.memory_revision,
    'profile', (select json_build_object('summary', o.summary, 'data', o.data) from profiles o where o.account_id = a.id),
    'facts', (
      select coalesce(json_agg(f), '[]') from (
        select f.id, f.text, f.pinned from facts f
         where f.account_id = a.id and f.superseded_by is null and f.stale_at is null
           and (f.valid_from is null or f.valid_from <= now()) and (f.valid_to is null or f.valid_to > now())
         order by f.pinned desc, f.confidence desc, f.id desc limit ?) f),
    'episodes', (
      select coalesce(json_agg(e), '[]') from (
        select e.id, e.title, e.summary from episodes e
         where e.account_id = a.id and e.stale_at is null and e.ended_at >= now() - make_interval(mins => ?)
         order by e.ended_at desc, e.id desc limit ?) e),
    'raw', (
      select coalesce(json_agg(r), '[]') from (
        select r.id, r.role, r.origin, r.content from raw_memories r
         where r.account_id = a.id and r.occurred_at >= now() - make_interval(mins => ?)
         order by r.occurred_at desc, r.id desc limit ?) r)) as bundle
    from accounts a where a.id = ?`;

import type { EntityManager } from '@mikro-orm/postgresql';
import { type Pair, PROMPT_END } from '../../../domain/replies/vote.ts';

/** Replies that a prediction learns from: the latest. */
const PAIRS_MAX = 500;

/** The person's latest replies in their own words, each with the end of the prompt that it answers, the latest first. */
export function readPairs(em: EntityManager, accountId: string): Promise<Pair[]> {
  return em.execute<Pair[]>(PAIRS, [accountId, PAIRS_MAX]);
}

/** A reply answers the prompt that it names, else the last one of the same agent in its session. */
const PAIRS = `
  select r.id, r.content as reply, right(coalesce(named.content, latest.content), ${PROMPT_END}) as prompt
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

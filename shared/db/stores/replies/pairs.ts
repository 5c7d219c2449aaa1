import type { EntityManager } from '@mikro-orm/postgresql';
import { type Pair, PROMPT_END } from '../../../domain/replies/vote.ts';

/** Replies that a prediction learns from: the latest. */
const PAIRS_MAX = 500;
/** How many rows back in the session the prompt of a reply is looked for. */
const PROMPT_WITHIN = 100;

/** The person's latest replies in their own words, each with the end of the prompt that it answers, the latest first. */
export function readPairs(em: EntityManager, accountId: string): Promise<Pair[]> {
  return em.execute<Pair[]>(PAIRS, [accountId, PAIRS_MAX]);
}

/** A reply answers the prompt that it names, else the last one of the same agent in its session. */
const PAIRS = `
  select r.id, coalesce(named.id, latest.id) as "promptId", r.content as reply, right(coalesce(named.content, latest.content), ${PROMPT_END}) as prompt
    from (
      select * from raw_memories
       where account_id = ? and kind = 'reply' and origin = 'human' order by occurred_at desc, id desc limit ?) r
    left join lateral (
      select q.id, q.content from raw_memories q
       where q.account_id = r.account_id and q.event_id = r.metadata ->> 'in_reply_to' and q.kind = 'prompt') named on true
    left join lateral (
      select q.id, q.content
        from (
          select * from raw_memories s
           where named.id is null and s.account_id = r.account_id and s.session_id = r.session_id
             and s.occurred_at <= r.occurred_at
           order by s.occurred_at desc, s.id desc limit ${PROMPT_WITHIN}) q
       where q.kind = 'prompt' and q.agent is not distinct from r.agent
       order by q.occurred_at desc, q.id desc limit 1) latest on true
   where coalesce(named.content, latest.content) is not null
   order by r.occurred_at desc, r.id desc`;

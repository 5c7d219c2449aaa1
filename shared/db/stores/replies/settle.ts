import type { EntityManager } from '@mikro-orm/postgresql';
import { type AnsweredQuestion, settlementsOf } from '../../../domain/replies/settle.ts';
import { AppError } from '../../../errors/app-error.ts';
import { IS_ASKED } from './basis.ts';
import { recordFeedback } from './rows.ts';

/** At most this many of the latest predictions without a decision of the person are looked at. */
const OPEN_MAX = 200;
/** Maximum numbers of prompts around a prediction, of predictions before a prompt, and of rows up to its reply. */
const [PROMPTS_MAX, PREDICTIONS_MAX, ROWS_MAX] = [20, 50, 100];
/** Longest time from a prediction to the question in the agent's own message, and how far clocks may differ. */
const [ASKED_WITHIN, CLOCKS_DIFFER] = [`interval '30 minutes'`, `interval '10 seconds'`];

/** Decides on the account's open predictions by the replies in memory that answer the same questions. */
export async function settlePredictions(em: EntityManager, accountId: string): Promise<void> {
  const answered = await em.execute<AnsweredQuestion[]>(READ_ANSWERED, [accountId, OPEN_MAX]);
  for (const { id, feedback, replyId } of settlementsOf(answered))
    await recordFeedback(em, accountId, id, feedback, { name: 'recorded', vouches: true, replyId }).catch(
      (error: unknown) => {
        // The prediction or the reply was erased meanwhile.
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      },
    );
}

const IS_OPEN = `(p.status in ('auto', 'escalated') or p.feedback_reported)`;

/** Only a recorder's replies name their prompts, so only these answer one. */
const READ_ANSWERED = `
  with asked as (
    select distinct q.account_id, q.id, q.event_id, q.session_id, q.content, q.occurred_at
      from (
        select p.account_id, p.created_at from replies p
         where p.account_id = ? and ${IS_OPEN} order by p.created_at desc, p.id desc limit ?) p
     cross join lateral (
       select q.* from raw_memories q
        where q.account_id = p.account_id and q.kind = 'prompt' and ${IS_ASKED} and q.event_id is not null
          and q.occurred_at between p.created_at - ${CLOCKS_DIFFER} and p.created_at + ${ASKED_WITHIN}
        order by q.occurred_at, q.id limit ${PROMPTS_MAX}) q
  )
  select q.content as prompt, a.id as "replyId", a.content as reply,
         (select json_agg(json_build_object(
                   'id', p.id, 'question', p.agent_input, 'response', p.response, 'isOpen', ${IS_OPEN},
                   'age', extract(epoch from q.occurred_at - p.created_at))
                   order by p.created_at desc, p.id desc)
            from (
              select * from replies p
               where p.account_id = q.account_id and p.status <> 'pending'
                 and p.created_at between q.occurred_at - ${ASKED_WITHIN} and q.occurred_at + ${CLOCKS_DIFFER}
               order by p.created_at desc, p.id desc limit ${PREDICTIONS_MAX}) p) as predictions
    from asked q
   cross join lateral (
     select a.id, a.content
       from (
         select * from raw_memories s
          where s.account_id = q.account_id and s.session_id = q.session_id and s.occurred_at >= q.occurred_at
          order by s.occurred_at, s.id limit ${ROWS_MAX}) a
      where a.kind = 'reply' and a.origin = 'human' and a.metadata ->> 'in_reply_to' = q.event_id
      order by a.occurred_at, a.id limit 1) a
   where not exists (
     select from replies p
      where p.account_id = q.account_id and p.feedback_witness = 'recorded' and p.context @> jsonb_build_object('raw_ids', array[a.id]))
   order by q.occurred_at, q.id`;

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import {
  type CalibratorModel,
  fitCalibrator,
  LABELS_MAX,
  type Label,
  PRIOR_CALIBRATOR,
} from '../../../domain/replies/calibrator.ts';
import type { Material } from '../../../domain/replies/material.ts';
import type { PersonDecision } from '../../../domain/replies/support.ts';
import { PROMPT_END_CHARS, type PromptReply } from '../../../domain/replies/vote.ts';
import type { BatchBundle, BatchProgress } from '../../../domain/replies/work.ts';
import { query } from '../../statement.ts';

const BATCH_BUNDLE = {
  name: 'kept_batch_v1',
  text: `select w.progress, a.memory_revision::float8 as revision from work w join accounts a on a.id = w.party
          where w.id = $1::uuid and w.progress is not null`,
};

/**
 * Reads the bundle of a live batch and the current revision of memory. Returns undefined if the batch is not live or
 * does not have this part: a batch that runs again after a failure has new parts, while old parts may still be queued.
 */
export async function readBatchBundle(
  pool: Pool,
  batchId: string,
  partId: string,
): Promise<{ bundle: BatchBundle; revision: number } | undefined> {
  const [row] = await query<{ progress: string; revision: number }>(pool, BATCH_BUNDLE, [batchId]);
  if (row === undefined) return undefined;
  const { bundle, ids } = JSON.parse(row.progress) as BatchProgress;
  return ids.includes(partId) ? { bundle, revision: row.revision } : undefined;
}

const BATCH_MEMORY = {
  name: 'batch_memory_v1',
  text: `
    select (select json_build_object('summary', p.summary, 'data', p.data) from profiles p where p.account_id = $1::uuid)
             as profile,
           (select coalesce(json_agg(json_build_object('id', f.id, 'text', f.text, 'pinned', f.pinned)), '[]')
              from facts f where f.account_id = $1::uuid and f.id = any ($2::uuid[]) and f.stale_at is null) as facts,
           (select coalesce(json_agg(json_build_object('id', e.id, 'title', e.title, 'summary', e.summary)), '[]')
              from episodes e where e.account_id = $1::uuid and e.id = any ($3::uuid[]) and e.stale_at is null)
             as episodes,
           (select coalesce(json_agg(json_build_object(
                     'id', r.id, 'role', r.role, 'origin', r.origin, 'content', r.content)), '[]')
              from raw_memories r where r.account_id = $1::uuid and r.id = any ($4::uuid[])) as raw`,
};

/** Reads the rows of a batch's bundle as they are now, without those deleted since the bundle was assembled. */
export async function readBatchMemory(
  pool: Pool,
  accountId: string,
  { factIds, episodeIds, rawIds }: BatchBundle,
): Promise<Omit<Material, 'examples'>> {
  const [row] = await query<Omit<Material, 'examples'>>(pool, BATCH_MEMORY, [
    accountId,
    factIds,
    episodeIds,
    rawIds,
  ]);
  return row ?? { profile: null, facts: [], episodes: [], raw: [] };
}

/** A prediction learns from at most this many of the latest replies. */
const PROMPT_REPLIES_MAX = 500;
/** Number of rows before a reply that are searched for its prompt. */
const PROMPT_SEARCH_ROWS = 100;

/** Reads the person's latest replies in their own words, each with the end of the prompt that it answers. */
export function readPromptReplies(em: EntityManager, accountId: string): Promise<PromptReply[]> {
  return em.execute<PromptReply[]>(READ_PROMPT_REPLIES, [accountId, PROMPT_REPLIES_MAX]);
}

/**
 * A reply answers the prompt that it names, or none if that one was deleted or has not arrived. A reply that names none
 * answers the last prompt of the same agent in its session.
 */
const READ_PROMPT_REPLIES = `
  select r.id, coalesce(named.id, latest.id) as "promptId", r.content as reply, right(coalesce(named.content, latest.content), ${PROMPT_END_CHARS}) as prompt
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
           where r.metadata ->> 'in_reply_to' is null and s.account_id = r.account_id and s.session_id = r.session_id
             and s.occurred_at <= r.occurred_at
           order by s.occurred_at desc, s.id desc limit ${PROMPT_SEARCH_ROWS}) q
       where q.kind = 'prompt' and q.agent is not distinct from r.agent
       order by q.occurred_at desc, q.id desc limit 1) latest on true
   where coalesce(named.content, latest.content) is not null
   order by r.occurred_at desc, r.id desc`;

/** At most this many of the latest decisions may support a reply. */
const DECISIONS_MAX = 500;

/**
 * Reads the person's latest decisions on predictions. Leaves out decisions without a label, since they teach nothing,
 * and decisions whose texts were erased.
 */
export function readDecisions(em: EntityManager, accountId: string): Promise<PersonDecision[]> {
  return em.execute<PersonDecision[]>(
    `select right(agent_input, ${PROMPT_END_CHARS}) as prompt, status = 'rejected' as "isRejected",
            case when status = 'rejected' then response else actual_response end as reply
       from (
         select * from replies
          where account_id = ? and label is not null order by feedback_at desc, id desc limit ?) r
      where agent_input <> '' and case when status = 'rejected' then response else actual_response end <> ''
      order by feedback_at desc, id desc`,
    [accountId, DECISIONS_MAX],
  );
}

interface StoredCalibrator {
  revision: number;
  weights: CalibratorModel | null;
}

/**
 * Returns the account's calibrator. If labels have changed, fits and stores it again. The result depends only on the
 * labels, so it does not matter which process fits it, or how often.
 */
export async function readCalibrator(em: EntityManager, accountId: string): Promise<CalibratorModel> {
  const [stored] = await em.execute<StoredCalibrator[]>(
    `select revision::float8 as revision, case when fitted = revision then weights end as weights
       from reply_calibrators where account_id = ?`,
    [accountId],
  );
  if (stored === undefined) return PRIOR_CALIBRATOR;
  if (stored.weights !== null) return stored.weights;
  const calibrator = fitCalibrator(await readLabels(em, accountId));
  // If labels have changed since the revision was read, the next prediction fits again.
  await em.execute(
    `update reply_calibrators set fitted = ?, weights = ?::jsonb where account_id = ? and coalesce(fitted, 0) < ?`,
    [stored.revision, JSON.stringify(calibrator), accountId, stored.revision],
  );
  return calibrator;
}

function readLabels(em: EntityManager, accountId: string): Promise<Label[]> {
  return em.execute<Label[]>(
    `select features, agent, model, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, LABELS_MAX],
  );
}

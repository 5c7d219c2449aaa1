import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import {
  type Calibrator,
  calibrate,
  LABELS_MAX,
  type Label,
  UNCALIBRATED,
} from '../../../domain/replies/calibrator.ts';
import type { Material } from '../../../domain/replies/material.ts';
import type { Decision } from '../../../domain/replies/support.ts';
import { type Pair, PROMPT_END } from '../../../domain/replies/vote.ts';
import type { BatchBundle, BatchProgress } from '../../../domain/replies/work.ts';
import { query } from '../../statement.ts';

const KEPT = {
  name: 'kept_batch_v1',
  text: `select w.progress, a.memory_revision::float8 as revision from work w join accounts a on a.id = w.party
          where w.id = $1::uuid and w.progress is not null`,
};

/**
 * The bundle of a batch that still runs and has that part, and the revision of the memory now; else undefined. A batch that
 * failed and runs again has the same id, but other parts: those of the first run may still be queued.
 */
export async function keptBundle(
  pool: Pool,
  batchId: string,
  partId: string,
): Promise<{ bundle: BatchBundle; revision: number } | undefined> {
  const [row] = await query<{ progress: string; revision: number }>(pool, KEPT, [batchId]);
  if (row === undefined) return undefined;
  const { bundle, ids } = JSON.parse(row.progress) as BatchProgress;
  return ids.includes(partId) ? { bundle, revision: row.revision } : undefined;
}

const MEMORY = {
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

/** The rows of a batch's bundle, as they are now: texts that were deleted since are not used any more. */
export async function batchMemory(
  pool: Pool,
  accountId: string,
  { factIds, episodeIds, rawIds }: BatchBundle,
): Promise<Omit<Material, 'examples'>> {
  const [row] = await query<Omit<Material, 'examples'>>(pool, MEMORY, [
    accountId,
    factIds,
    episodeIds,
    rawIds,
  ]);
  return row ?? { profile: null, facts: [], episodes: [], raw: [] };
}

/** Replies that a prediction learns from: the latest. */
const PAIRS_MAX = 500;
/** Number of rows back in the session in which the prompt of a reply is looked for. */
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

/** Decisions that support a reply: the latest. */
const DECISIONS_MAX = 500;

/**
 * The person's latest decisions on predictions, the latest first. Those that teach nothing, such as one on a reply that its
 * prompt dictated, and those whose texts were erased are left out.
 */
export function readDecisions(em: EntityManager, accountId: string): Promise<Decision[]> {
  return em.execute<Decision[]>(
    `select right(agent_input, ${PROMPT_END}) as prompt, status = 'rejected' as "isRejected",
            case when status = 'rejected' then response else actual_response end as reply
       from (
         select * from replies
          where account_id = ? and label is not null order by feedback_at desc, id desc limit ?) r
      where agent_input <> '' and case when status = 'rejected' then response else actual_response end <> ''
      order by feedback_at desc, id desc`,
    [accountId, DECISIONS_MAX],
  );
}

interface Kept {
  revision: number;
  weights: Calibrator | null;
}

/**
 * The account's calibrator: the kept one, or, when labels have changed since, one that is fitted to them now. It depends on
 * the labels alone, so it does not matter who fits it, or how often.
 */
export async function readCalibrator(em: EntityManager, accountId: string): Promise<Calibrator> {
  const [kept] = await em.execute<Kept[]>(
    `select revision::float8 as revision, case when fitted = revision then weights end as weights
       from reply_calibrators where account_id = ?`,
    [accountId],
  );
  if (kept === undefined) return UNCALIBRATED;
  if (kept.weights !== null) return kept.weights;
  const fitted = calibrate(await readLabels(em, accountId));
  // Labels may have changed since the revision was read: then the next prediction fits again.
  await em.execute(
    `update reply_calibrators set fitted = ?, weights = ?::jsonb where account_id = ? and coalesce(fitted, 0) < ?`,
    [kept.revision, JSON.stringify(fitted), accountId, kept.revision],
  );
  return fitted;
}

/** The account's latest labels. */
function readLabels(em: EntityManager, accountId: string): Promise<Label[]> {
  return em.execute<Label[]>(
    `select features, agent, model, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, LABELS_MAX],
  );
}

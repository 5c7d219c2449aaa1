import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type CalibratorModel,
  fitCalibrator,
  LABELS_MAX,
  type Label,
  PRIOR_CALIBRATOR,
} from '../../../domain/replies/calibrator.ts';
import type { Material } from '../../../domain/replies/material.ts';
import { PROMPT_END_CHARS } from '../../../domain/replies/question.ts';
import type { PersonDecision } from '../../../domain/replies/support.ts';
import type { PromptReply } from '../../../domain/replies/vote.ts';
import type { BatchBundle, BatchProgress } from '../../../domain/replies/work.ts';
import { saidIn } from '../../../domain/said-elsewhere.ts';
import { dayOf } from '../../../domain/shown-rows.ts';
import { Episode, Fact, Profile, RawMemory } from '../../entities/memory.ts';
import { ReplyCalibrator } from '../../entities/reply.ts';

/** Reads the bundle of a live batch and the current revision of memory. Returns undefined if the batch has ended. */
export async function readBatchBundle(
  em: EntityManager,
  batchId: string,
): Promise<{ bundle: BatchBundle; revision: number } | undefined> {
  const [row] = await em.execute<{ progress: string; revision: number }[]>(
    `select w.progress, a.memory_revision::float8 as revision from work w join accounts a on a.id = w.party
      where w.id = ?`,
    [batchId],
  );
  return row && { bundle: (JSON.parse(row.progress) as BatchProgress).bundle, revision: row.revision };
}

/** Reads the rows of a batch's bundle as they are now, without those deleted since the bundle was assembled. */
export async function readBatchMemory(
  em: EntityManager,
  accountId: string,
  { factIds, episodeIds, rawIds }: BatchBundle,
): Promise<Omit<Material, 'examples'>> {
  const account = accountId;
  const profile = await em.findOne(Profile, { account });
  const facts = await em.find(Fact, { account, id: { $in: factIds }, staleAt: null });
  const episodes = await em.find(Episode, { account, id: { $in: episodeIds }, staleAt: null });
  const raw = await em.find(RawMemory, { account, id: { $in: rawIds } });
  return {
    profile: profile && { summary: profile.summary, data: profile.data },
    facts: facts.map((row) => ({ id: row.id, on: dayOf(row), text: row.text, pinned: row.pinned })),
    episodes: episodes.map((row) => ({ id: row.id, on: dayOf(row), title: row.title, summary: row.summary })),
    raw: raw.map((row) => ({
      id: row.id,
      on: dayOf(row),
      role: row.role ?? null,
      origin: row.origin,
      content: row.content,
    })),
  };
}

/** A prediction learns from at most this many of the latest replies. */
const PROMPT_REPLIES_MAX = 500;
/** Number of rows before a reply that are searched for its prompt. */
const PROMPT_SEARCH_ROWS = 100;

/**
 * Reads the person's latest replies in their own words, each with the end of the prompt that it answers. What a hook and
 * a tool both recorded is read once. With `project`, leaves out replies in other projects (`saidIn`).
 */
export async function readPromptReplies(
  em: EntityManager,
  accountId: string,
  project: string | undefined,
): Promise<PromptReply[]> {
  const rows = await em.execute<RecordedReply[]>(READ_PROMPT_REPLIES, [accountId, PROMPT_REPLIES_MAX]);
  const said = saidIn(project, withoutRecordedTwice(rows));
  return said.map(({ sessionId, source, project: _, ...pair }) => pair);
}

type RecordedReply = PromptReply & {
  sessionId: string | null;
  source: string;
  project: string | null;
};

/** Two recorders of one conversation have clocks that differ a little. */
const RECORDED_TWICE_MS = 5 * 60_000;

/** Leaves out a reply if another recorder, or another session, has the same one within `RECORDED_TWICE_MS`. */
function withoutRecordedTwice(latestFirst: readonly RecordedReply[]): RecordedReply[] {
  const kept = new Map<string, RecordedReply[]>();
  return latestFirst.filter((one) => {
    const words = one.reply.trim();
    const sameWords = kept.get(words) ?? [];
    if (sameWords.some((later) => later.at - one.at <= RECORDED_TWICE_MS && isTwin(later, one))) return false;
    sameWords.push(one);
    kept.set(words, sameWords);
    return true;
  });
}

/** A tool may record only the question of a prompt that a hook records whole. */
function isTwin(one: RecordedReply, other: RecordedReply): boolean {
  if (one.sessionId === other.sessionId && one.source === other.source) return false;
  const [prompt, otherPrompt] = [one.prompt.trim(), other.prompt.trim()];
  return prompt.includes(otherPrompt) || otherPrompt.includes(prompt);
}

/** A prompt that no recorder vouches for may have been made up for the reply. */
export const IS_ASKED = `q.origin not in ('reported', 'accepted_prediction', 'edited_prediction')`;

/**
 * A reply answers the prompt that it names, or none if that one was deleted or has not arrived. A reply that names none
 * answers the last prompt of the same agent in its session.
 */
const READ_PROMPT_REPLIES = `
  select r.id, coalesce(named.id, latest.id) as "promptId", r.content as reply, r.session_id as "sessionId", r.source,
         r.project,
         extract(epoch from r.occurred_at)::float8 * 1000 as at,
         to_char(r.occurred_at at time zone 'UTC', 'YYYY-MM-DD') as "on", right(coalesce(named.content, latest.content), ${PROMPT_END_CHARS}) as prompt
    from (
      select * from raw_memories
       where account_id = ? and kind = 'reply' and origin = 'human' order by occurred_at desc, id desc limit ?) r
    left join lateral (
      select q.id, q.content from raw_memories q
       where q.account_id = r.account_id and q.event_id = r.metadata ->> 'in_reply_to' and q.kind = 'prompt'
         and ${IS_ASKED}) named on true
    left join lateral (
      select q.id, q.content
        from (
          select * from raw_memories s
           where r.metadata ->> 'in_reply_to' is null and s.account_id = r.account_id and s.session_id = r.session_id
             and s.occurred_at <= r.occurred_at
           order by s.occurred_at desc, s.id desc limit ${PROMPT_SEARCH_ROWS}) q
       where q.kind = 'prompt' and q.agent is not distinct from r.agent and ${IS_ASKED}
       order by q.occurred_at desc, q.id desc limit 1) latest on true
   where coalesce(named.content, latest.content) is not null
   order by r.occurred_at desc, r.id desc`;

/** At most this many of the latest decisions may support a reply. */
const DECISIONS_MAX = 500;

/**
 * Reads the person's latest decisions on predictions. Leaves out decisions without a label, since they teach nothing,
 * and decisions whose texts were erased. With `project`, leaves out decisions in other projects (`saidIn`).
 */
export async function readDecisions(
  em: EntityManager,
  accountId: string,
  project: string | undefined,
): Promise<readonly PersonDecision[]> {
  const decisions = await em.execute<(PersonDecision & { project: string | null })[]>(
    `select id, project, right(agent_input, ${PROMPT_END_CHARS}) as prompt, status = 'rejected' as "isRejected",
            case when status = 'rejected' then response else actual_response end as reply,
            extract(epoch from feedback_at)::float8 * 1000 as at,
            case when not label and (acted_at is not null or blind) then response end as "objectsTo"
       from (
         select * from replies
          where account_id = ? and label is not null order by feedback_at desc, id desc limit ?) r
      where agent_input <> '' and case when status = 'rejected' then response else actual_response end <> ''
      order by feedback_at desc, id desc`,
    [accountId, DECISIONS_MAX],
  );
  return saidIn(project, decisions);
}

/**
 * Returns the account's calibrator. If labels have changed, fits and stores it again. The result depends only on the
 * labels, so it does not matter which process fits it, or how often.
 */
export async function readCalibrator(em: EntityManager, accountId: string): Promise<CalibratorModel> {
  const stored = await em.findOne(ReplyCalibrator, { accountId });
  if (stored === null) return PRIOR_CALIBRATOR;
  const { revision, fitted, weights } = stored;
  if (weights && fitted === revision) return weights;
  const calibrator = fitCalibrator(await readLabels(em, accountId));
  // If labels have changed since the revision was read, the next prediction fits again.
  const older = { accountId, $or: [{ fitted: null }, { fitted: { $lt: revision } }] };
  await em.nativeUpdate(ReplyCalibrator, older, { fitted: revision, weights: calibrator });
  return calibrator;
}

function readLabels(em: EntityManager, accountId: string): Promise<Label[]> {
  return em.execute<Label[]>(
    `select features, agent, model, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, LABELS_MAX],
  );
}

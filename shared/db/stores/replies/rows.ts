import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { ConfidenceOutcome } from '../../../domain/replies/reliability.ts';
import { feedbackOf } from '../../../domain/replies/reliability.ts';
import type { Witness } from '../../../domain/witness.ts';
import { AppError } from '../../../errors/app-error.ts';
import { idsOf } from '../../../ids.ts';
import { type FeedbackRequest, REPLY_STATES } from '../../../schemas/replies.ts';
import { type ListedReply, Reply, ReplyCalibrator } from '../../entities/reply.ts';
import { oneRow } from '../../rows.ts';
import { transaction } from '../../statement.ts';

/** Characters of the question that a list has. */
export const QUESTION_CHARS = 300;
const EXCLUDED_FIELDS = ['agentInput', 'context', 'features'] as const;
/** Columns by which the size of a listed prediction is measured; its other columns are small. */
const LARGE_COLUMNS = `r.id, r.agent, left(r.agent_input, ${QUESTION_CHARS}), r.session_id, r.model, r.response, r.reasoning, r.candidates, r.actual_response`;

export interface ReplyListOptions {
  status?: string | undefined;
  agent?: string | undefined;
  sessionId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  trial?: boolean | undefined;
  factId?: string | undefined;
  limit: number;
  offset: number;
}

const HAS_ENDED = { $or: [{ status: { $ne: 'pending' } }, { error: { $ne: null } }] };

export function findEndedReplies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<ListedReply[]> {
  return em.find(Reply, { id: { $in: [...ids] }, accountId, ...HAS_ENDED }, { exclude: EXCLUDED_FIELDS });
}

/** Returns the ids of those predictions that have ended. Does not check which account they belong to. */
export async function findEndedIds(em: EntityManager, ids: readonly string[]): Promise<Set<string>> {
  const rows = await em.find(Reply, { id: { $in: [...ids] }, ...HAS_ENDED }, { fields: ['id'] });
  return new Set(idsOf(rows));
}

/** Returns the total size of the predictions' large columns, in bytes of JSON. */
export async function measureReplies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<number> {
  const measured = em.execute<{ size: number }[]>(
    `select coalesce(sum(octet_length(to_json(p)::text)), 0)::int as size
       from (select ${LARGE_COLUMNS} from replies r where r.account_id = ? and r.id = any (?::uuid[])) p`,
    [accountId, `{${ids.join()}}`],
  );
  return (await oneRow(measured)).size;
}

/**
 * `inTurn` waits for the account's turn, then calls `read`, which reads all rows of the account. `reserve` waits until
 * `bytes` of memory are free for the page.
 */
interface PageReadLimits {
  inTurn<T>(read: () => Promise<T>): Promise<T>;
  reserve(bytes: number): Promise<void>;
}

/**
 * Lists a page of predictions without prompts, context and features. `total` is the number of all matching predictions.
 * Throws what `inTurn` and `reserve` throw.
 */
export async function listReplies(
  em: EntityManager,
  accountId: string,
  options: ReplyListOptions,
  { inTurn, reserve }: PageReadLimits,
): Promise<{ total: number; rows: (ListedReply & { question: string })[] }> {
  const { total, size, ids } = await inTurn(() => measurePage(em, accountId, options));
  await reserve(size);
  const rows = await em.find(
    Reply,
    { accountId, id: { $in: ids } },
    { orderBy: { createdAt: 'desc', id: 'desc' }, exclude: EXCLUDED_FIELDS },
  );
  const questions = await em.execute<{ id: string; question: string }[]>(
    `select id, left(agent_input, ${QUESTION_CHARS}) as question from replies
      where account_id = ? and id = any (?::uuid[])`,
    [accountId, `{${ids.join()}}`],
  );
  const byId = new Map(questions.map(({ id, question }) => [id, question]));
  return { total, rows: rows.map((row) => ({ ...row, question: byId.get(row.id) ?? '' })) };
}

interface MeasuredPage {
  total: number;
  /** Size of the large columns of the page, in bytes of JSON. */
  size: number;
  ids: string[];
}

function measurePage(
  em: EntityManager,
  accountId: string,
  { limit, offset, ...filter }: ReplyListOptions,
): Promise<MeasuredPage> {
  const { sql, values } = conditionsOf(accountId, filter);
  return oneRow(
    em.execute<MeasuredPage[]>(
      `select (select count(*) from replies r where ${sql})::int as total,
            coalesce(sum(octet_length(to_json(p)::text)), 0)::int as size,
            coalesce(to_json(array_agg(p.id)), '[]') as ids
       from (select ${LARGE_COLUMNS} from replies r where ${sql}
              order by r.created_at desc, r.id desc limit ? offset ?) p`,
      [...values, ...values, limit, offset],
    ),
  );
}

function conditionsOf(
  accountId: string,
  { status, agent, sessionId, since, until, trial, factId }: Omit<ReplyListOptions, 'limit' | 'offset'>,
): { sql: string; values: unknown[] } {
  const conditions: [string, unknown][] = [
    ['r.account_id = ?', accountId],
    ['r.status = ?', status],
    ['r.agent = ?', agent],
    ['r.session_id = ?', sessionId],
    ['r.created_at >= ?', since],
    ['r.created_at < ?', until],
    ['r.trial = ?', trial],
    ['r.context @> ?::jsonb', factId && JSON.stringify({ fact_ids: [factId] })],
  ];
  const setConditions = conditions.filter(([, value]) => value !== undefined);
  return {
    sql: setConditions.map(([sql]) => sql).join(' and '),
    values: setConditions.map(([, value]) => value),
  };
}

/**
 * Stores the person's decision on a prediction. A later decision replaces an earlier one, but what is only reported or
 * recorded never replaces the person's own. Throws `not_found`, also if the witness's row is gone, `request_in_flight`
 * while the prediction runs, or a `ValidationError` if the person's reply is missing.
 */
export function recordFeedback(
  em: EntityManager,
  accountId: string,
  id: string,
  feedback: FeedbackRequest,
  witness: Witness,
): Promise<Reply> {
  const { name, vouches, replyId } = witness;
  const repliedIn = replyId === undefined ? [] : [replyId];
  return transaction(em, async (tx) => {
    // Locks the memory before the replies, as a deletion of memory does.
    const terms = [accountId, JSON.stringify({ raw_ids: repliedIn })];
    const kept = tx.execute<{ isLeft: boolean }[]>('select is_left(?::uuid, ?::jsonb) as "isLeft"', terms);
    if (!(await oneRow(kept)).isLeft) throw new AppError('not_found');
    const [found] = await tx.execute<{ nowMs: number }[]>(
      `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs" from replies
        where id = ? and account_id = ? for update`,
      [id, accountId],
    );
    const reply = found && (await tx.findOne(Reply, { id, accountId }));
    if (!reply) throw new AppError('not_found');
    if (reply.status === 'pending' && reply.error == null) throw new AppError('request_in_flight');
    const isDecided = reply.feedbackAt != null && !reply.feedbackReported;
    const isHidden = reply.blind && !isDecided;
    const { actualResponse, label } = feedbackOf({ ...reply, isHidden }, feedback);
    const isSame = reply.status === feedback.status && reply.actualResponse === actualResponse;
    const givesWay = !vouches || replyId !== undefined;
    if (isDecided ? givesWay || isSame : !vouches && isSame) return reply;
    tx.assign(reply, {
      status: feedback.status,
      actualResponse,
      label: vouches ? label : null,
      feedbackAt: new Date(found.nowMs),
      feedbackWitness: name,
      feedbackReported: !vouches,
      // A deletion of the row then erases its words here, too.
      context: reply.context && { ...reply.context, raw_ids: [...reply.context.raw_ids, ...repliedIn] },
    });
    await tx.flush();
    if (vouches && label !== null)
      await tx
        .createQueryBuilder(ReplyCalibrator)
        .insert({ accountId, revision: 1 })
        .onConflict('accountId')
        .merge({ revision: raw('reply_calibrators.revision + 1') })
        .execute('run');
    return reply;
  });
}

export interface Period {
  since: Date | undefined;
  until: Date | undefined;
}

/** A trial is no use of Forecue, and where nothing was suggested, the person rejected nothing. */
export const IS_COUNTED = `not trial and not (status = 'rejected' and candidates = '[]')`;

type ReplyCounts = Record<(typeof REPLY_STATES)[number], number>;

export async function countReplies(
  em: EntityManager,
  accountId: string,
  period: Period,
): Promise<ReplyCounts> {
  const rows = await em.execute<{ status: string; count: number }[]>(
    `select status, count(*)::int as count from replies
      where account_id = ? and ${IS_COUNTED} and created_at >= coalesce(?::timestamptz, '-infinity')
        and created_at < coalesce(?::timestamptz, 'infinity') group by status`,
    [accountId, period.since ?? null, period.until ?? null],
  );
  const counts = new Map(rows.map(({ status, count }) => [status, count]));
  return Object.fromEntries(REPLY_STATES.map((state) => [state, counts.get(state) ?? 0])) as ReplyCounts;
}

const OUTCOMES_MAX = 2000;

/** Reads the confidence of the latest predictions that the person has judged, and whether each was right. */
export function readOutcomes(em: EntityManager, accountId: string): Promise<ConfidenceOutcome[]> {
  return em.execute<ConfidenceOutcome[]>(
    `select confidence, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, OUTCOMES_MAX],
  );
}

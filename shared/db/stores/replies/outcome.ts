import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import { type AutomationTerms, automationOf } from '../../../domain/automation.ts';
import { type AskerTerms, type ReplyReport, thresholdInForce } from '../../../domain/replies/work.ts';
import { idsOf } from '../../../ids.ts';
import type { ReplyInput } from '../../../schemas/replies.ts';
import { Reply } from '../../entities/reply.ts';
import { projectsOf } from '../recording/read.ts';
import { announce } from '../webhooks/announce.ts';
import type { AdmittedWork, EndedWork, KindRows } from '../work/rows.ts';

/**
 * The rows of predicted replies, each with the id of its work. A prediction is `pending` until its work has succeeded,
 * so one whose call failed is never `auto`. One that failed and runs again keeps its row.
 */
export const replyRows: KindRows<ReplyReport> = {
  takesReports: true,

  async admitted(tx, admitted) {
    const again = admitted.filter(({ attempt }) => attempt > 1);
    const firsts = admitted.filter(({ attempt }) => attempt === 1);
    if (again.length > 0) await tx.nativeUpdate(Reply, { id: { $in: idsOf(again) } }, { error: null });
    if (firsts.length > 0) await tx.insertMany(Reply, await pendingReplies(tx, firsts));
  },

  async ended(tx, ended) {
    const failed = ended.filter(({ state }) => state !== 'succeeded');
    for (const [error, ofCode] of Map.groupBy(failed, ({ code }) => code))
      await tx.nativeUpdate(Reply, { id: { $in: idsOf(ofCode) } }, { error: error ?? null });
    const succeeded = ended.filter(({ state }) => state === 'succeeded');
    if (succeeded.length > 0) await storeAnswers(tx, succeeded);
    return [];
  },
};

async function pendingReplies(tx: EntityManager, admitted: readonly AdmittedWork[]) {
  const requests = admitted.map(({ id, party: accountId, input, facts }) => {
    const request: ReplyInput = JSON.parse(input);
    const terms = facts as AskerTerms;
    const threshold = thresholdInForce(request.threshold, terms);
    return { ...request, id, accountId, sessionId: request.session_id, threshold, keyId: terms.keyId };
  });
  const projects = await projectsOf(tx, requests);
  return requests.map(({ agent_input: agentInput, model = '', ...request }, place) => {
    const { id, accountId, sessionId, agent, trial, k, threshold, keyId } = request;
    const project = projects[place] ?? null;
    return {
      id,
      accountId,
      agent,
      agentInput,
      trial,
      sessionId,
      project,
      k,
      threshold,
      model,
      keyId,
      createdAt: raw('now()'),
    };
  });
}

interface Answer {
  id: string;
  party: string;
  report: ReplyReport;
  /** False if memory that the answer was made from has been deleted meanwhile. */
  isLeft: boolean;
  terms: AutomationTerms | null;
  /** Whether a webhook wants to hear of it if it is left to the person. */
  isAwaited: boolean;
  nowMs: number;
}

async function storeAnswers(tx: EntityManager, ended: readonly EndedWork<ReplyReport>[]): Promise<void> {
  // Locks the memory before the replies, as a deletion of memory does.
  const answers = await tx.execute<Answer[]>(
    `select id, party, report, is_left(party, report -> 'context') as "isLeft",
            (select json_build_object('automatic', a.automatic, 'checkShare', a.check_share)
               from accounts a where a.id = party) as terms,
            exists (select from webhooks w where w.account_id = party and w.disabled is null
                     and 'prediction.escalated' = any (w.events)) as "isAwaited",
            (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
       from jsonb_to_recordset(?::jsonb) e (id uuid, party uuid, report jsonb)`,
    [JSON.stringify(ended.map(({ id, party, report }) => ({ id, party, report })))],
  );
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  const where = { id: { $in: idsOf(answers) } };
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } } as const;
  const escalated: Answer[] = [];
  for (const reply of await tx.find(Reply, where, { fields: ['status', 'threshold', 'trial'], ...lock })) {
    const answer = byId.get(reply.id);
    if (answer === undefined) continue;
    const isNew = reply.status === 'pending';
    tx.assign(reply, answeredReply(answer, reply));
    if (isNew && reply.status === 'escalated' && !reply.trial) escalated.push(answer);
  }
  await tx.flush();
  await announce(
    tx,
    escalated
      .filter(({ isAwaited }) => isAwaited)
      .map(({ id, party }) => ({
        account: party,
        event: 'prediction.escalated',
        data: { prediction_id: id },
      })),
  );
}

const NO_TEXTS = {
  response: '',
  confidence: 0,
  candidates: [],
  features: null,
  reasoning: 'Memory that it was made from was deleted meanwhile.',
};

/** A decision that the person made after a failed attempt outlives the repetition. */
function answeredReply(
  { report, isLeft, terms, nowMs }: Answer,
  { status: statusBefore, threshold }: Pick<Reply, 'status' | 'threshold'>,
) {
  const { support: _, latency_ms, input_tokens, output_tokens, ...answer } = report;
  // With the threshold 0 no precision is wanted that could be checked.
  const outcome = report.status === 'auto' && isLeft ? automationOf(terms, threshold > 0) : 'ask';
  const isActedOn = outcome === 'act';
  const decided = isActedOn ? 'auto' : 'escalated';
  const status = statusBefore === 'pending' ? decided : statusBefore;
  const stored = {
    ...answer,
    latencyMs: latency_ms,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    error: null,
    status,
    actedAt: isActedOn ? new Date(nowMs) : null,
    blind: outcome === 'check',
  };
  return isLeft ? stored : { ...stored, ...NO_TEXTS };
}

import type { Reads } from '../../../shared/db/access-log.ts';
import { Reply } from '../../../shared/db/entities/reply.ts';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import { type EvidenceRow, readEvidence } from '../../../shared/db/stores/replies/evidence.ts';
import {
  countReplies,
  listReplies,
  readOutcomes,
  recordFeedback,
} from '../../../shared/db/stores/replies/rows.ts';
import { reliabilityOf } from '../../../shared/domain/replies/reliability.ts';
import type { BatchReport } from '../../../shared/domain/replies/work.ts';
import { witnessOf } from '../../../shared/domain/witness.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  BatchRequest,
  BatchResponse,
  FeedbackRequest,
  ReplyDetail,
  ReplyDetailQuery,
  ReplyList,
  ReplyListQuery,
  ReplyRequest,
  ReplyResponse,
} from '../../../shared/schemas/replies.ts';
import {
  CalibrationQuery,
  ReplyCalibration,
  ReplyPeriodQuery,
  ReplyStats,
} from '../../../shared/schemas/reply-figures.ts';
import { predictBatch } from '../../../shared/work/kinds.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerJob, idempotencyKeyOf, replayedHeader } from '../../jobs/answer.ts';
import { JOB_ERRORS, job, PREDICTION_ERRORS, RESPONSE_MODES } from '../../jobs/declaration.ts';
import { queryTime } from '../../memory/list.ts';
import { presentAnswer, presentReply, presentSummary, statisticsOf } from '../../replies/present.ts';
import { termsOf } from '../../replies/service.ts';
import { prefers, requestedProject } from '../../request/headers.ts';
import type { Parts } from '../parts.ts';

export const predictReply = endpoint('user', {
  operationId: 'predictReply',
  scopes: ['predict'],
  tag: 'Replies',
  summary: 'Predict what the person would reply to an agent',
  description: `Waits for the answer. It is \`auto\` when the first candidate's confidence reaches the threshold in force, the
larger of the request's and the floors of account and key, otherwise
\`escalated\`: ask the person. The prediction goes on, and is stored, when its caller leaves, unless \`X-On-Disconnect\` says otherwise.`,
  body: ReplyRequest,
  bodyLimit: 4 * MIB,
  boxesBody: true,
  requestHeaders: ['Forecue-Project', 'Idempotency-Key', 'Prefer', 'X-On-Disconnect'],
  errors: [
    'idempotency_conflict',
    'request_in_flight',
    'recovery_window_expired',
    'quota_exceeded',
    ...PREDICTION_ERRORS,
  ],
  response: ReplyResponse,
  responseHeaders: ['Idempotency-Replayed'],
}).handle(async ({ user, body, headers, signal }, { replies }: Parts) => {
  const preferences = {
    idempotencyKey: idempotencyKeyOf(headers),
    wait: prefers(headers, 'wait'),
    cancelOnDisconnect: headers['x-on-disconnect'] === 'cancel',
  };
  const input = body.map((request) => ({ ...request, project: requestedProject(headers) }));
  const { row, replayed } = await replies.predict(user, input, preferences, signal);
  return { body: presentAnswer(row), headers: replayedHeader(replayed) };
});

export const predictReplies = endpoint('user', {
  ...job,
  operationId: 'predictReplies',
  scopes: ['predict'],
  tag: 'Replies',
  summary: 'Predict the replies to many prompts',
  description: `From one memory bundle. A prompt that fails, however many do, is an item with the code of its error. With
\`Accept: text/event-stream\`, \`result\` events have the items as they are ready. ${RESPONSE_MODES}`,
  body: BatchRequest,
  bodyLimit: 16 * MIB,
  pointPerItemOf: 'prompts',
  errors: ['quota_exceeded', ...JOB_ERRORS],
  response: BatchResponse,
}).handle((input, parts: Parts) => {
  const project = requestedProject(input.headers);
  const body = input.body.map((batch) => ({ ...parts.replies.check(batch), project }));
  return answerJob<BatchReport, BatchResponse>(
    predictBatch,
    { ...input, body, facts: termsOf(input.user) },
    parts,
  );
});

export const readReply = endpoint('user', {
  operationId: 'readReply',
  tag: 'Replies',
  summary: 'A prediction, with all that is stored of it',
  params: { id: 'uuid' },
  query: ReplyDetailQuery,
  response: ReplyDetail,
}).handle(async ({ user, params, query }, { em }: Parts) => {
  const row = await em().findOneOrFail(Reply, { id: params.id, accountId: user.id });
  const evidence = query.evidence === 'true' ? await readEvidence(em(), user.id, row.context) : undefined;
  return { body: presentReply(row, evidence), read: { predictions: 1, ...countByTier(evidence ?? []) } };
});

const READ_TIER = { fact: 'facts', episode: 'episodes', raw: 'raw' } as const;

function countByTier(rows: readonly Pick<EvidenceRow, 'tier'>[]): Reads {
  const tiers = rows.map(({ tier }) => READ_TIER[tier]);
  return Object.fromEntries(
    Object.values(READ_TIER).map((tier) => [tier, tiers.filter((one) => one === tier).length]),
  );
}

export const listPredictedReplies = endpoint('user', {
  operationId: 'listReplies',
  tag: 'Replies',
  summary: 'The predictions, the latest first',
  query: ReplyListQuery,
  errors: ['overloaded'],
  response: ReplyList,
}).handle(async ({ user, query, reserve, signal }, { em, takeSearchTurn }: Parts) => {
  const { limit, offset } = query;
  const filter = {
    limit,
    offset,
    status: query.status,
    agent: query.agent,
    sessionId: query.session_id,
    since: queryTime(query.since),
    until: queryTime(query.until),
    trial: query.trial && query.trial === 'true',
    factId: query.fact_id,
  };
  const { total, rows } = await listReplies(em(), user.id, filter, {
    inTurn: (read) => takeSearchTurn({ party: user.id, gone: signal }, read),
    reserve,
  });
  return {
    body: { total, limit, offset, results: rows.map(presentSummary) },
    read: { predictions: rows.length },
  };
});

export const giveFeedback = endpoint('user', {
  operationId: 'giveFeedback',
  changes: 'predictions',
  scopes: ['predict', 'write', 'decide'],
  showsStored: true,
  tag: 'Replies',
  summary: 'Say what the person did with a prediction',
  inTurn: 'memory',
  description: `The last decision counts; later confidences are calibrated from it. \`edited\` needs \`actual_response\`, and
so does \`accepted\` on a prediction that failed. From a key without the scope \`decide\` it is only reported: it teaches
nothing, and does not replace what the person decided.`,
  params: { id: 'uuid' },
  body: FeedbackRequest,
  errors: ['request_in_flight'],
  response: ReplyDetail,
}).handle(async ({ user, params, body }, { em }: Parts) => ({
  body: presentReply(await recordFeedback(em(), user.id, params.id, body, witnessOf(user, 'decide'))),
}));

export const readReplyStats = endpoint('user', {
  operationId: 'readReplyStats',
  tag: 'Replies',
  summary: 'How many predictions are in each state, and how precise they were',
  inTurn: 'memory',
  query: ReplyPeriodQuery,
  response: ReplyStats,
}).handle(async ({ user, query }, { em }: Parts) => {
  const period = { since: queryTime(query.since), until: queryTime(query.until) };
  return { body: statisticsOf(await countReplies(em(), user.id, period)) };
});

export const readReplyCalibration = endpoint('user', {
  operationId: 'readReplyCalibration',
  tag: 'Replies',
  summary: 'How far the confidences can be trusted, and which threshold suits',
  inTurn: 'memory',
  description:
    'From the latest 2000 predictions with feedback. `target` is the minimum precision of those that reach the suggested threshold.',
  query: CalibrationQuery,
  response: ReplyCalibration,
}).handle(async ({ user, query }, { em }: Parts) => {
  const account = await findAccount(em(), user.id);
  const target = query.target ?? account?.precisionTarget ?? undefined;
  return { body: reliabilityOf(await readOutcomes(em(), user.id), target) };
});

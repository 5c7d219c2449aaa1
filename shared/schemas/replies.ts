import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text, withDefault } from './build.ts';
import {
  Count,
  Id,
  Name,
  NullableText,
  NullableTimestamp,
  pageLimit,
  Share,
  TimeOrDate,
  Timestamp,
  withProject,
} from './common.ts';
import { CONTEXT_DEFAULTS, EVENT_TEXT_MAX, INTEGER_MAX, RECENCY_MINUTES_MAX } from './limits.ts';
import { TIERS } from './memory.ts';

export const REPLY_STATES = ['pending', 'auto', 'escalated', 'accepted', 'edited', 'rejected'] as const;
export const FEEDBACK_STATES = ['accepted', 'edited', 'rejected'] as const;

const ACTUAL_RESPONSE_MAX = 32_000;
const Ids = Type.Array(Id);

/** An agent's question to a person. */
export const ReplyRequest = closedObject({
  agent: Name,
  agent_input: text(EVENT_TEXT_MAX, 1),
  /** Maximum number of candidates, up to `MAX_K`. */
  k: withDefault(Type.Integer({ minimum: 1, maximum: INTEGER_MAX }), 1),
  /** Minimum confidence to act on the reply. */
  threshold: withDefault(Share, 0.8),
  /** Model to use instead of the default: one that the operator offers. */
  model: Type.Optional(Name),
  /** Maximum age of the episodes and raw rows used, in minutes. */
  recency_minutes: withDefault(
    Type.Integer({ minimum: 1, maximum: RECENCY_MINUTES_MAX }),
    CONTEXT_DEFAULTS.recencyMinutes,
  ),
  session_id: withDefault(nullable(Name), null),
  /** Only tries it out: no part of the inbox, nor of the figures. */
  trial: withDefault(Type.Boolean(), false),
});
export type ReplyRequest = Static<typeof ReplyRequest>;

export const ReplyInput = withProject(ReplyRequest);
export type ReplyInput = Static<typeof ReplyInput>;

const BATCH_PROMPTS_MAX = 100;
const { k, threshold, model, recency_minutes, ...promptFields } = ReplyRequest.properties;

export const BatchRequest = closedObject({
  prompts: Type.Array(closedObject(promptFields), { minItems: 1, maxItems: BATCH_PROMPTS_MAX }),
  k,
  threshold,
  model,
  recency_minutes,
});
export type BatchRequest = Static<typeof BatchRequest>;

export const BatchInput = withProject(BatchRequest);
export type BatchInput = Static<typeof BatchInput>;

export const ReplyCandidate = closedObject({
  response: Type.String(),
  confidence: Share,
  reasoning: Type.String(),
});

const replyFields = {
  id: Id,
  /** Response of the first candidate; empty if there is none. */
  predicted_response: Type.String(),
  confidence: Share,
  reasoning: Type.String(),
  /** The most confident first. */
  candidates: Type.Array(ReplyCandidate),
  k: Type.Integer(),
  status: oneOf(REPLY_STATES),
  threshold: Share,
  /** The model that answered. Before the answer, the requested model, or empty if none was requested. */
  model: Type.String(),
  latency_ms: Count,
  usage: closedObject({ input_tokens: Count, output_tokens: Count }),
};
export const ReplyResponse = closedObject(replyFields);
export type ReplyResponse = Static<typeof ReplyResponse>;

const Index = Type.Integer({ minimum: 0, maximum: BATCH_PROMPTS_MAX - 1 });

export const BatchItem = Type.Union([
  closedObject({ index: Index, prediction: ReplyResponse }),
  /** `code` is the error code that the prediction would get outside a batch. */
  closedObject({ index: Index, error: closedObject({ code: Type.String() }) }),
]);
export type BatchItem = Static<typeof BatchItem>;

export const BatchResponse = closedObject({
  /** In the order of the prompts. */
  results: Type.Array(BatchItem),
  succeeded: Count,
  failed: Count,
  /** Sum over all predictions. */
  usage: ReplyResponse.properties.usage,
  latency_ms: Count,
});
export type BatchResponse = Static<typeof BatchResponse>;

const storedFields = {
  ...replyFields,
  agent: Type.String(),
  /** The first characters of `agent_input`. */
  question: Type.String(),
  trial: Type.Boolean(),
  session_id: NullableText,
  created_at: Timestamp,
  acted_at: NullableTimestamp,
  actual_response: NullableText,
  feedback_at: NullableTimestamp,
  /** Who gave the feedback: `login`, the id of a key, or `recorded`, the person's own reply to the question. */
  feedback_witness: NullableText,
  /** True if that key does not vouch for the person's decisions: the feedback teaches nothing. */
  feedback_reported: Type.Boolean(),
  /** Error code with which the prediction failed; null if it did not fail. */
  error: NullableText,
};
export const ReplySummary = closedObject(storedFields);
export type ReplySummary = Static<typeof ReplySummary>;

/** What supports a reply: the person's own replies, and their decisions, on similar questions. */
export const ReplySupport = closedObject({
  supported: Type.Boolean(),
  /** True if the strict rule applies, because the reply or its question is about something that cannot be undone. */
  strict: Type.Boolean(),
  /** Number of replies to similar questions that count for or against. */
  similar: Count,
  /** Number of these with the same meaning. */
  agreeing: Count,
  /** Ids of the raw rows with the replies that suffice. */
  reply_ids: Ids,
  /** Ids of the predictions on which the person decided so. */
  prediction_ids: Ids,
});
export type ReplySupport = Static<typeof ReplySupport>;

/** The memory from which a prediction was made: ids and counts, no texts. */
export const ReplyContext = closedObject({
  prompt_revision: Type.Integer(),
  memory_revision: Type.Integer(),
  profile: Type.Boolean(),
  fact_ids: Ids,
  episode_ids: Ids,
  raw_ids: Ids,
  /** Ids of the raw rows with the person's replies to similar prompts. */
  example_ids: Ids,
  /** Ids of the rows that were left out because they would dictate a reply. */
  withheld_ids: Ids,
  /** What supports the first candidate. Null without one. */
  support: nullable(ReplySupport),
  counts: closedObject({ facts: Count, episodes: Count, raw: Count, examples: Count }),
  truncated: Type.Boolean(),
});
export type ReplyContext = Static<typeof ReplyContext>;

export const ReplyDetail = closedObject({
  ...storedFields,
  agent_input: Type.String(),
  /** Null until the job has succeeded. */
  context: nullable(ReplyContext),
  /** With `evidence=true`: rows of memory from which the prediction was made, some of each tier, that are still there. */
  evidence: Type.Optional(
    Type.Array(closedObject({ tier: oneOf(TIERS), id: Id, text: Type.String(), at: Timestamp })),
  ),
});
export type ReplyDetail = Static<typeof ReplyDetail>;

export const ReplyDetailQuery = Type.Object({ evidence: Type.Optional(oneOf(['true', 'false'])) });

export const ReplyList = closedObject({
  total: Count,
  limit: Type.Integer(),
  offset: Count,
  results: Type.Array(ReplySummary),
});
export type ReplyList = Static<typeof ReplyList>;

export const ReplyListQuery = Type.Object({
  status: Type.Optional(oneOf(REPLY_STATES)),
  trial: Type.Optional(oneOf(['true', 'false'])),
  /** Id of a fact: only predictions that were made from it. */
  fact_id: Type.Optional(Id),
  agent: Type.Optional(Name),
  session_id: Type.Optional(Name),
  since: Type.Optional(TimeOrDate),
  until: Type.Optional(TimeOrDate),
  limit: pageLimit(200, 50),
  offset: withDefault(Type.Integer({ minimum: 0, maximum: 999_999_999 }), 0),
});
export type ReplyListQuery = Static<typeof ReplyListQuery>;

export const FeedbackRequest = closedObject({
  status: oneOf(FEEDBACK_STATES),
  actual_response: Type.Optional(nullable(text(ACTUAL_RESPONSE_MAX))),
});
export type FeedbackRequest = Static<typeof FeedbackRequest>;

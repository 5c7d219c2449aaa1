import Type, { type Static } from 'typebox';
import { closedObject, nullable, nullableOneOf, oneOf, text, withDefault } from './build.ts';
import {
  Count,
  Id,
  Name,
  NullableText,
  NullableTimestamp,
  PrecisionTarget,
  pageLimit,
  Share,
  TimeOrDate,
  Timestamp,
  withProject,
} from './common.ts';
import { CONTEXT_DEFAULTS, EVENT_TEXT_MAX, INTEGER_MAX, RECENCY_MINUTES_MAX } from './limits.ts';

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
});
export type ReplyDetail = Static<typeof ReplyDetail>;

export const ReplyList = closedObject({
  total: Count,
  limit: Type.Integer(),
  offset: Count,
  results: Type.Array(ReplySummary),
});
export type ReplyList = Static<typeof ReplyList>;

export const ReplyListQuery = Type.Object({
  status: Type.Optional(oneOf(REPLY_STATES)),
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

export const ReplyPeriodQuery = Type.Object({
  since: Type.Optional(TimeOrDate),
  until: Type.Optional(TimeOrDate),
});

const NullableShare = Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, maximum: 1 });

export const ReplyStats = closedObject({
  total: Count,
  by_status: closedObject({
    pending: Count,
    auto: Count,
    escalated: Count,
    accepted: Count,
    edited: Count,
    rejected: Count,
  }),
  /** (auto + accepted) / (auto + accepted + edited + rejected); null if the divisor is 0. */
  precision: NullableShare,
  /** Share of the predictions with the status auto, accepted, edited or rejected; null without predictions. */
  automation_rate: NullableShare,
});
export type ReplyStats = Static<typeof ReplyStats>;

export const CalibrationQuery = Type.Object({
  /** Minimum precision at the suggested threshold. By default the account's `precision_target`. */
  target: Type.Optional(PrecisionTarget),
});

export const ReplyCalibration = closedObject({
  /** Bins of equal size, by confidence. `observed` is the share of correct predictions in the bin. */
  bins: Type.Array(
    closedObject({ lo: Share, hi: Share, count: Count, mean_confidence: Share, observed: Share }),
  ),
  /** Mean squared error of the confidence; null without feedback. */
  brier: NullableShare,
  /** Confidence threshold at which the precision reaches `target`; null if unknown. */
  suggested_threshold: NullableShare,
  feedback_count: Count,
  /** Evidence for the suggestion, or the reason why there is none. */
  evidence: closedObject({
    target: Share,
    /**
     * Number of the person's decisions on predictions that reach the suggested threshold. If none is suggested, the
     * highest threshold that can be tested is used. If none can be tested, all decisions count.
     */
    labels: Count,
    /** `labels` as a share of all decisions. */
    coverage: NullableShare,
    /** Share of correct predictions among the decisions counted in `labels`. */
    precision: NullableShare,
    /** One-sided 95 % lower bound of the precision (Wilson 1927). */
    precision_low: NullableShare,
    /** One-sided 95 % upper bound of the precision. */
    precision_high: NullableShare,
    reason: nullableOneOf(['no_feedback', 'too_little_feedback', 'not_precise_enough']),
  }),
});
export type ReplyCalibration = Static<typeof ReplyCalibration>;

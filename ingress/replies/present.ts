import type { ListedReply, Reply } from '../../shared/db/entities/reply.ts';
import type { REPLY_STATES, ReplyDetail, ReplyResponse, ReplySummary } from '../../shared/schemas/replies.ts';

/** The answer to the call that predicts, as it was given, whatever was decided on it since. */
export function presentAnswer(row: ListedReply): ReplyResponse {
  return { ...answerOf(row), status: row.actedAt ? 'auto' : 'escalated' };
}

/** A prediction in a list: without what was asked, and what it was made from. */
export function presentSummary(row: ListedReply): ReplySummary {
  return {
    ...answerOf(row),
    agent: row.agent,
    session_id: row.sessionId ?? null,
    created_at: row.createdAt.toISOString(),
    acted_at: row.actedAt?.toISOString() ?? null,
    actual_response: row.actualResponse ?? null,
    feedback_at: row.feedbackAt?.toISOString() ?? null,
    error: row.error ?? null,
  };
}

/** A prediction with all that is stored of it. */
export function presentReply(row: Reply): ReplyDetail {
  return { ...presentSummary(row), agent_input: row.agentInput, context: row.context ?? null };
}

function answerOf(row: ListedReply): ReplyResponse {
  return {
    id: row.id,
    predicted_response: row.response,
    confidence: row.confidence,
    reasoning: row.reasoning,
    candidates: row.candidates.map(({ response, confidence, reasoning }) => ({
      response,
      confidence,
      reasoning,
    })),
    k: row.k,
    // Only stores write it, and only these.
    status: row.status as ReplyResponse['status'],
    threshold: row.threshold,
    model: row.model,
    latency_ms: row.latencyMs,
    usage: { input_tokens: row.inputTokens, output_tokens: row.outputTokens },
  };
}

type State = (typeof REPLY_STATES)[number];

export interface ReplyStatistics {
  total: number;
  by_status: Record<State, number>;
  /** The share of the answered ones that were right; null when none was answered. */
  precision: number | null;
  /** The share of all that were answered; null when there is none. */
  automation_rate: number | null;
}

/** The statistics of predictions, from how many are in each state. */
export function statisticsOf(byStatus: Record<State, number>): ReplyStatistics {
  const { auto, accepted, edited, rejected } = byStatus;
  const total = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  const answered = auto + accepted + edited + rejected;
  return {
    total,
    by_status: byStatus,
    precision: answered === 0 ? null : (auto + accepted) / answered,
    automation_rate: total === 0 ? null : answered / total,
  };
}

import type { ListedReply, Reply } from '../../shared/db/entities/reply.ts';
import type { ReplyDetail, ReplyResponse, ReplyStats, ReplySummary } from '../../shared/schemas/replies.ts';

/** Presents a prediction as it was first answered, without the person's later decision. */
export function presentAnswer(row: ListedReply): ReplyResponse {
  return { ...answerOf(row), status: row.actedAt ? 'auto' : 'escalated' };
}

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
    // Only our stores write this column, and only these values.
    status: row.status as ReplyResponse['status'],
    threshold: row.threshold,
    model: row.model,
    latency_ms: row.latencyMs,
    usage: { input_tokens: row.inputTokens, output_tokens: row.outputTokens },
  };
}

export function statisticsOf(byStatus: ReplyStats['by_status']): ReplyStats {
  const { auto, accepted, edited, rejected } = byStatus;
  const total = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  const resolvedCount = auto + accepted + edited + rejected;
  return {
    total,
    by_status: byStatus,
    precision: resolvedCount === 0 ? null : (auto + accepted) / resolvedCount,
    automation_rate: total === 0 ? null : resolvedCount / total,
  };
}

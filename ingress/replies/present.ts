import type { ListedReply, Reply } from '../../shared/db/entities/reply.ts';
import { shownConfidence } from '../../shared/domain/replies/decide.ts';
import { present } from '../../shared/schemas/present.ts';
import {
  ReplyCandidate,
  ReplyDetail,
  ReplyResponse,
  type ReplyStats,
  ReplySummary,
} from '../../shared/schemas/replies.ts';

/** Presents a prediction as it was first answered, without the person's later decision. */
export function presentAnswer(row: ListedReply): ReplyResponse {
  return present(ReplyResponse, row, { ...answerOf(row), status: row.actedAt ? 'auto' : 'escalated' });
}

export function presentSummary(row: ListedReply): ReplySummary {
  return present(ReplySummary, row, answerOf(row));
}

export function presentReply(row: Reply): ReplyDetail {
  return present(ReplyDetail, row, answerOf(row));
}

function answerOf({ response, confidence, candidates, threshold, inputTokens, outputTokens }: ListedReply) {
  const [supported] = candidates.map((one) => one.supported);
  return {
    predicted_response: response,
    confidence: shownConfidence({ confidence, supported: supported ?? false }, threshold),
    candidates: candidates.map((one) =>
      present(ReplyCandidate, one, { confidence: shownConfidence(one, threshold) }),
    ),
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
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

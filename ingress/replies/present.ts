import type { ListedReply, Reply } from '../../shared/db/entities/reply.ts';
import type { EvidenceRow } from '../../shared/db/stores/replies/evidence.ts';
import { QUESTION_CHARS } from '../../shared/db/stores/replies/rows.ts';
import { shownConfidence } from '../../shared/domain/replies/decide.ts';
import { present } from '../../shared/schemas/present.ts';
import { ReplyCandidate, ReplyDetail, ReplyResponse, ReplySummary } from '../../shared/schemas/replies.ts';
import type { ReplyStats } from '../../shared/schemas/reply-figures.ts';

/** Presents a prediction as it was first answered, without the person's later decision. */
export function presentAnswer(reply: ListedReply): ReplyResponse {
  const row = reply.blind ? hide(reply) : reply;
  return present(ReplyResponse, row, { ...answerOf(row), status: row.actedAt ? 'auto' : 'escalated' });
}

export function presentSummary(reply: ListedReply & { question: string }): ReplySummary {
  const row = isHidden(reply) ? hide(reply) : reply;
  return present(ReplySummary, row, answerOf(row));
}

export function presentReply(reply: Reply, evidence?: EvidenceRow[]): ReplyDetail {
  const row = isHidden(reply) ? hide(reply) : reply;
  const question = row.agentInput.slice(0, QUESTION_CHARS).toWellFormed();
  return present(ReplyDetail, row, {
    ...answerOf(row),
    question,
    ...(evidence && { evidence: evidence.map(presentEvidence) }),
  });
}

function presentEvidence({ atMs, ...row }: EvidenceRow) {
  return { ...row, at: new Date(atMs).toISOString() };
}

/** Until the person has answered a check, nobody sees what would have been answered in their place. */
function isHidden({ blind, feedbackAt, feedbackReported }: ListedReply): boolean {
  return blind && (feedbackAt == null || feedbackReported);
}

function hide<Row extends ListedReply>(row: Row): Row {
  return { ...row, response: '', confidence: 0, candidates: [], reasoning: HIDDEN };
}

const HIDDEN = 'Certain enough, but asked to check it: what would have been answered is shown afterwards.';

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

import type { REPLY_STATES } from '../../schemas/replies.ts';

type State = (typeof REPLY_STATES)[number];

export interface ReplyStatistics {
  total: number;
  by_status: Record<State, number>;
  /** Of those that were answered, by us or by the person's decision; null when there is none. */
  precision: number | null;
  /** Of all; null when there is none. */
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

import Type, { type Static } from 'typebox';
import { closedObject, nullableOneOf } from './build.ts';
import { Count, NullableShare, PrecisionTarget, Share, TimeOrDate } from './common.ts';

export const ReplyPeriodQuery = Type.Object({
  since: Type.Optional(TimeOrDate),
  until: Type.Optional(TimeOrDate),
});

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

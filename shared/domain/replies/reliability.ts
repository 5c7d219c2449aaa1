import { PRECISION_TARGET } from '../../schemas/limits.ts';
import type { FeedbackRequest } from '../../schemas/replies.ts';
import { saysTheSame } from '../../text/meaning.ts';
import { Faults } from '../faults.ts';

/** A confidence that was shown, and whether it was right. */
export interface Outcome {
  confidence: number;
  right: boolean;
}

export interface Bin {
  lo: number;
  hi: number;
  count: number;
  mean_confidence: number;
  /** Share of those that were right. */
  observed: number;
}

/** The evidence for a suggested threshold. `reason` says why there is none. */
export interface Evidence {
  target: number;
  /** Decisions on predictions with at least that confidence, how many of all these are, and how many of them were right. */
  labels: number;
  coverage: number | null;
  precision: number | null;
  /** One-sided 95 % lower bound of the precision (Wilson 1927). */
  precision_low: number | null;
  /** The same upper bound. */
  precision_high: number | null;
  reason: 'no_feedback' | 'too_little_feedback' | 'not_precise_enough' | null;
}

export interface Reliability {
  bins: Bin[];
  /** Mean squared error of the confidence; null without feedback. */
  brier: number | null;
  suggested_threshold: number | null;
  feedback_count: number;
  evidence: Evidence;
}

const BINS_MAX = 10;
const PER_BIN = 15;
/** Steps of 0.05 from 0.95 down to 0.05. */
const THRESHOLDS = Array.from({ length: 19 }, (_, n) => (95 - 5 * n) / 100);
/** The 95th percentile of the normal distribution. */
const Z = 1.6449;

/**
 * Reports how far the confidences shown can be trusted, and the threshold from which on a `target` share of them is right.
 */
export function reliabilityOf(outcomes: readonly Outcome[], target = PRECISION_TARGET): Reliability {
  // In one order whatever the caller's, so that sums of fractions are the same to the last digit.
  const sorted = outcomes.toSorted(
    (a, b) => a.confidence - b.confidence || Number(a.right) - Number(b.right),
  );
  const { threshold, evidence } = suggest(sorted, target);
  return {
    bins: binsOf(sorted),
    brier: sorted.length === 0 ? null : mean(sorted.map(squaredError)),
    suggested_threshold: threshold,
    feedback_count: outcomes.length,
    evidence,
  };
}

/** Bins of equal mass. Equal confidences may be in two bins. */
function binsOf(sorted: readonly Outcome[]): Bin[] {
  const count = Math.min(BINS_MAX, Math.ceil(sorted.length / PER_BIN));
  return Array.from({ length: count }, (_, n) => {
    const of = sorted.slice((n * sorted.length) / count, ((n + 1) * sorted.length) / count);
    return {
      lo: of[0]?.confidence ?? 0,
      hi: of.at(-1)?.confidence ?? 0,
      count: of.length,
      mean_confidence: mean(of.map(({ confidence }) => confidence)),
      observed: mean(of.map(({ right }) => Number(right))),
    };
  });
}

/** A sequence of tests begins where this share of all decisions is: above it a single mistake would end it. */
const MANY = 0.5;

/**
 * Fixed-sequence tests (Westfall and Krishen 2001): thresholds from high to low, while the lower bound of the precision
 * reaches the target; the last that passes. So testing many of them does not raise the risk of a wrong one. There are two
 * sequences, from the highest threshold and from the first that has many decisions: the lower result of both.
 * Thresholds with fewer decisions above them than a perfect record would need are left out: they could only fail.
 */
function suggest(
  outcomes: readonly Outcome[],
  target: number,
): { threshold: number | null; evidence: Evidence } {
  const evidenceAbove = (above: readonly Outcome[], reason: Evidence['reason']) =>
    evidenceOf(above, { target, all: outcomes.length, reason });
  const tests = THRESHOLDS.map((threshold) => ({
    threshold,
    above: outcomes.filter(({ confidence }) => confidence >= threshold),
  })).filter(({ above }) => lowerBound(above.length, above.length) >= target);
  const passes = ({ above }: { above: readonly Outcome[] }) =>
    lowerBound(above.filter(({ right }) => right).length, above.length) >= target;
  const many = tests.findIndex(({ above }) => above.length >= MANY * outcomes.length);
  const results = [0, Math.max(0, many)].flatMap((start) => {
    const sequence = tests.slice(start);
    const failed = sequence.findIndex((test) => !passes(test));
    return sequence.slice(0, failed < 0 ? undefined : failed).slice(-1);
  });
  const best = results.sort((a, b) => a.threshold - b.threshold)[0];
  if (best !== undefined) return { threshold: best.threshold, evidence: evidenceAbove(best.above, null) };
  const [first] = tests;
  return {
    threshold: null,
    evidence:
      first === undefined
        ? evidenceAbove(outcomes, reasonOf(outcomes.length))
        : evidenceAbove(first.above, 'not_precise_enough'),
  };
}

function reasonOf(labels: number): Evidence['reason'] {
  return labels === 0 ? 'no_feedback' : 'too_little_feedback';
}

function evidenceOf(
  above: readonly Outcome[],
  { target, all, reason }: { target: number; all: number; reason: Evidence['reason'] },
): Evidence {
  const labels = above.length;
  const right = above.filter((one) => one.right).length;
  return {
    target,
    labels,
    coverage: all === 0 ? null : labels / all,
    precision: labels === 0 ? null : right / labels,
    precision_low: labels === 0 ? null : lowerBound(right, labels),
    precision_high: labels === 0 ? null : 1 - lowerBound(labels - right, labels),
    reason,
  };
}

/** The lower bound of a share, from a sample (Wilson's score interval, one-sided); 0 for none. */
function lowerBound(right: number, labels: number): number {
  if (labels === 0) return 0;
  const share = right / labels;
  const centre = share + Z ** 2 / (2 * labels);
  const spread = Z * Math.sqrt((share * (1 - share)) / labels + Z ** 2 / (4 * labels ** 2));
  return Math.max(0, (centre - spread) / (1 + Z ** 2 / labels));
}

const squaredError = ({ confidence, right }: Outcome): number => (confidence - Number(right)) ** 2;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The prediction that a decision is about. */
interface Decided {
  response: string;
  error?: string | null | undefined;
  features?: object | null | undefined;
}

interface Feedback {
  actualResponse: string | null;
  /** True if the prediction was right; null where it teaches nothing. */
  label: boolean | null;
}

/**
 * Interprets a person's decision on a prediction. To accept means to have replied what was predicted, unless another
 * reply is given; an edit that changes next to nothing counts as right. Throws a `ValidationError` when the reply is
 * missing: an edit needs it, and so does accepting a prediction that failed.
 */
export function feedbackOf(
  { response, error, features }: Decided,
  { status, actual_response: given }: FeedbackRequest,
): Feedback {
  const isNeeded = status === 'edited' || (status === 'accepted' && error != null);
  if (isNeeded && !given?.trim()) refuse(given);
  const actualResponse = given ?? (status === 'accepted' ? response : null);
  const isRight = status === 'accepted' || (status === 'edited' && saysTheSame(response, given ?? ''));
  return { actualResponse, label: features == null ? null : isRight };
}

function refuse(given: string | null | undefined): void {
  const faults = new Faults();
  if (given === undefined) faults.add('actual_response', 'Field required', 'missing');
  else faults.add('actual_response', 'Input should say what the person replied');
  faults.refuse();
}

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

/** What a suggested threshold rests on. `reason` says why there is none. */
export interface Evidence {
  target: number;
  /** Decisions on predictions with at least that confidence, how many of all these are, and how many of them were right. */
  labels: number;
  coverage: number | null;
  precision: number | null;
  /** One-sided 95 % lower bound of the precision (Wilson 1927). */
  precision_low: number | null;
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

const TARGET = 0.95;
const LABELS_MIN = 20;
const BINS_MAX = 10;
const PER_BIN = 15;
/** In steps of 0.05 from 0.95 down to 0.05. */
const THRESHOLDS = Array.from({ length: 19 }, (_, n) => (95 - 5 * n) / 100);
/** The 95th percentile of the normal distribution. */
const Z = 1.6449;

/** How far the confidences shown can be trusted, and the threshold from which on they are right often enough. */
export function reliabilityOf(outcomes: readonly Outcome[]): Reliability {
  const sorted = outcomes.toSorted((a, b) => a.confidence - b.confidence);
  const { threshold, evidence } = suggest(outcomes);
  return {
    bins: binsOf(sorted),
    brier: outcomes.length === 0 ? null : mean(outcomes.map(squaredError)),
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

/**
 * A fixed-sequence test (Westfall and Krishen 2001): thresholds from high to low, while the lower bound of the precision
 * reaches the target; the last that passes. So testing many of them does not raise the risk of a wrong one.
 */
function suggest(outcomes: readonly Outcome[]): { threshold: number | null; evidence: Evidence } {
  let found: { threshold: number | null; evidence: Evidence } = {
    threshold: null,
    evidence: evidenceOf(outcomes, outcomes.length, reasonOf(outcomes.length)),
  };
  for (const threshold of THRESHOLDS) {
    const above = outcomes.filter(({ confidence }) => confidence >= threshold);
    if (above.length < LABELS_MIN) continue;
    const evidence = evidenceOf(above, outcomes.length, null);
    if ((evidence.precision_low ?? 0) < TARGET) {
      if (found.threshold === null)
        found = { threshold: null, evidence: { ...evidence, reason: 'not_precise_enough' } };
      break;
    }
    found = { threshold, evidence };
  }
  return found;
}

function reasonOf(labels: number): Evidence['reason'] {
  return labels === 0 ? 'no_feedback' : 'too_little_feedback';
}

function evidenceOf(above: readonly Outcome[], all: number, reason: Evidence['reason']): Evidence {
  const labels = above.length;
  const right = above.filter((one) => one.right).length;
  return {
    target: TARGET,
    labels,
    coverage: all === 0 ? null : labels / all,
    precision: labels === 0 ? null : right / labels,
    precision_low: labels === 0 ? null : wilsonLow(right, labels),
    reason,
  };
}

/** The lower bound of a share, from a sample (Wilson's score interval, one-sided). */
function wilsonLow(right: number, labels: number): number {
  const share = right / labels;
  const centre = share + Z ** 2 / (2 * labels);
  const spread = Z * Math.sqrt((share * (1 - share)) / labels + Z ** 2 / (4 * labels ** 2));
  return Math.max(0, (centre - spread) / (1 + Z ** 2 / labels));
}

const squaredError = ({ confidence, right }: Outcome): number => (confidence - Number(right)) ** 2;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

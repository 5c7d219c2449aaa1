import { PRECISION_TARGET } from '../../schemas/limits.ts';
import type { FeedbackRequest } from '../../schemas/replies.ts';
import type { ReplyCalibration } from '../../schemas/reply-figures.ts';
import { haveSameMeaning } from '../../text/meaning.ts';
import { Faults } from '../faults.ts';
import { questionIn } from './question.ts';

/** A prediction's confidence, and whether the prediction was right. */
export interface ConfidenceOutcome {
  confidence: number;
  right: boolean;
}

type ThresholdEvidence = ReplyCalibration['evidence'];

const BINS_MAX = 10;
const OUTCOMES_PER_BIN = 15;
/** Thresholds to test, from 0.95 down to 0.05 in steps of 0.05. */
const THRESHOLDS = Array.from({ length: 19 }, (_, n) => (95 - 5 * n) / 100);
/** The 95th percentile of the standard normal distribution. */
const Z_95 = 1.6449;

/** Suggests a confidence threshold, or null. Of the predictions that reach it, at least the share `target` is right. */
export function reliabilityOf(
  outcomes: readonly ConfidenceOutcome[],
  target = PRECISION_TARGET,
): ReplyCalibration {
  // Sorting makes floating-point sums independent of the caller's order.
  const sortedOutcomes = outcomes.toSorted(
    (a, b) => a.confidence - b.confidence || Number(a.right) - Number(b.right),
  );
  const { threshold, evidence } = suggestThreshold(sortedOutcomes, target);
  return {
    bins: binsOf(sortedOutcomes),
    brier: sortedOutcomes.length === 0 ? null : mean(sortedOutcomes.map(squaredError)),
    suggested_threshold: threshold,
    feedback_count: outcomes.length,
    evidence,
  };
}

/** Makes bins of equal size. Equal confidences may be in two bins. */
function binsOf(sortedOutcomes: readonly ConfidenceOutcome[]): ReplyCalibration['bins'] {
  const count = Math.min(BINS_MAX, Math.ceil(sortedOutcomes.length / OUTCOMES_PER_BIN));
  return Array.from({ length: count }, (_, n) => {
    const inBin = sortedOutcomes.slice(
      (n * sortedOutcomes.length) / count,
      ((n + 1) * sortedOutcomes.length) / count,
    );
    return {
      lo: inBin[0]?.confidence ?? 0,
      hi: inBin.at(-1)?.confidence ?? 0,
      count: inBin.length,
      mean_confidence: mean(inBin.map(({ confidence }) => confidence)),
      observed: mean(inBin.map(({ right }) => Number(right))),
    };
  });
}

/**
 * The second test sequence starts at the first threshold that this share of the outcomes reaches. Among so many
 * outcomes, one mistake does not end the sequence.
 */
const MANY_OUTCOMES_SHARE = 0.5;

/**
 * Uses fixed-sequence tests (Westfall and Krishen 2001). A sequence tests thresholds from high to low, until the lower
 * bound of the precision misses the target. Its result is the last threshold that passed. One sequence starts at the
 * highest threshold, the other at the first threshold that many outcomes reach. The lower result is suggested.
 * Thresholds that could not pass even if all their outcomes were right are not tested.
 */
function suggestThreshold(
  outcomes: readonly ConfidenceOutcome[],
  target: number,
): { threshold: number | null; evidence: ThresholdEvidence } {
  const evidenceAbove = (above: readonly ConfidenceOutcome[], reason: ThresholdEvidence['reason']) =>
    evidenceOf(above, { target, all: outcomes.length, reason });
  const tests = THRESHOLDS.map((threshold) => ({
    threshold,
    above: outcomes.filter(({ confidence }) => confidence >= threshold),
  })).filter(({ above }) => wilsonLowerBound(above.length, above.length) >= target);
  const passes = ({ above }: { above: readonly ConfidenceOutcome[] }) =>
    wilsonLowerBound(above.filter(({ right }) => right).length, above.length) >= target;
  const firstWithMany = tests.findIndex(({ above }) => above.length >= MANY_OUTCOMES_SHARE * outcomes.length);
  const results = [0, Math.max(0, firstWithMany)].flatMap((start) => {
    const sequence = tests.slice(start);
    const firstFailure = sequence.findIndex((test) => !passes(test));
    return sequence.slice(0, firstFailure < 0 ? undefined : firstFailure).slice(-1);
  });
  const best = results.sort((a, b) => a.threshold - b.threshold)[0];
  if (best !== undefined) return { threshold: best.threshold, evidence: evidenceAbove(best.above, null) };
  const [first] = tests;
  return {
    threshold: null,
    evidence:
      first === undefined
        ? evidenceAbove(outcomes, outcomes.length === 0 ? 'no_feedback' : 'too_little_feedback')
        : evidenceAbove(first.above, 'not_precise_enough'),
  };
}

function evidenceOf(
  above: readonly ConfidenceOutcome[],
  { target, all, reason }: { target: number; all: number; reason: ThresholdEvidence['reason'] },
): ThresholdEvidence {
  const labels = above.length;
  const right = above.filter((one) => one.right).length;
  return {
    target,
    labels,
    coverage: all === 0 ? null : labels / all,
    precision: labels === 0 ? null : right / labels,
    precision_low: labels === 0 ? null : wilsonLowerBound(right, labels),
    precision_high: labels === 0 ? null : 1 - wilsonLowerBound(labels - right, labels),
    reason,
  };
}

/** Returns the lower bound of a share, from a sample (Wilson's score interval, one-sided); 0 for an empty sample. */
function wilsonLowerBound(right: number, labels: number): number {
  if (labels === 0) return 0;
  const share = right / labels;
  const centre = share + Z_95 ** 2 / (2 * labels);
  const spread = Z_95 * Math.sqrt((share * (1 - share)) / labels + Z_95 ** 2 / (4 * labels ** 2));
  return Math.max(0, (centre - spread) / (1 + Z_95 ** 2 / labels));
}

const squaredError = ({ confidence, right }: ConfidenceOutcome): number => (confidence - Number(right)) ** 2;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface DecidedPrediction {
  agentInput: string;
  response: string;
  error?: string | null | undefined;
  features?: object | null | undefined;
  /** True if the person has not been shown the prediction, so that their own words alone say whether it was right. */
  isHidden?: boolean;
}

interface Feedback {
  actualResponse: string | null;
  /** True if the prediction was right; null if the decision must not train the calibrator. */
  label: boolean | null;
}

/**
 * Counts an edited prediction as right if the edit kept its meaning. Throws a `ValidationError` if the reply is missing
 * for an edited prediction, or for an accepted prediction that had failed.
 */
export function feedbackOf(
  { agentInput, response, error, features, isHidden = false }: DecidedPrediction,
  { status, actual_response: given }: FeedbackRequest,
): Feedback {
  const isNeeded = status === 'edited' || (status === 'accepted' && (error != null || isHidden));
  if (isNeeded && !given?.trim()) refuseMissingReply(given);
  const actualResponse = given ?? (status === 'accepted' ? response : null);
  const { question } = questionIn(agentInput);
  const isSame = () => haveSameMeaning(response, given ?? '', question);
  if (features == null || (isHidden && status === 'rejected')) return { actualResponse, label: null };
  const label = status === 'accepted' && !isHidden ? true : status !== 'rejected' && isSame();
  return { actualResponse, label };
}

function refuseMissingReply(given: string | null | undefined): void {
  const faults = new Faults({ actual_response: given });
  if (given === undefined) faults.add('actual_response', 'Field required', 'missing');
  else faults.add('actual_response', 'Input should say what the person replied');
  faults.throwIfAny();
}

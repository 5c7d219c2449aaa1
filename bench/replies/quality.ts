import { reliabilityOf } from '../../shared/domain/replies/reliability.ts';
import type { JudgedPrediction, Stage } from './life.ts';
import type { TypingResult } from './typing.ts';

export const REPLY_HEADS = [
  'turns',
  'predicted',
  'top-1',
  'Brier',
  'Brier of the base rate',
  'ECE',
  'auto',
  'right of auto',
];

/** Top-1, Brier score and expected calibration error concern only the predictions that were made. */
export function replyCells(judged: readonly JudgedPrediction[]): string[] {
  const predicted = judged.filter((one) => one.predicted);
  const auto = judged.filter((one) => one.auto);
  const { bins, brier } = reliabilityOf(predicted);
  const ece = bins.reduce(
    (sum, bin) => sum + (bin.count / predicted.length) * Math.abs(bin.mean_confidence - bin.observed),
    0,
  );
  const top1 = shareRight(predicted);
  return [
    String(judged.length),
    formatFraction(predicted.length / judged.length),
    formatFraction(top1),
    formatFraction(brier ?? Number.NaN),
    formatFraction(top1 * (1 - top1)),
    formatFraction(predicted.length === 0 ? Number.NaN : ece),
    formatFraction(auto.length / judged.length),
    formatFraction(shareRight(auto)),
  ];
}

export const THRESHOLD_HEADS = [
  'target',
  'lives',
  'with one',
  'median',
  'turns above it',
  'right of these',
  'lives at the target',
];

export function thresholdCells(stages: readonly Stage[], place: number, target: number): string[] {
  const suggested = stages.flatMap(({ thresholds, judged }) => {
    const threshold = thresholds[place] ?? null;
    if (threshold === null) return [];
    const above = judged.filter((one) => one.predicted && one.confidence >= threshold);
    return { threshold, judged, above };
  });
  const later = suggested.flatMap(({ judged }) => judged);
  const above = suggested.flatMap((one) => one.above);
  const held = suggested.filter((one) => one.above.length === 0 || shareRight(one.above) >= target);
  const thresholds = suggested.map(({ threshold }) => threshold).sort((a, b) => a - b);
  const median = thresholds[Math.floor(thresholds.length / 2)];
  return [
    String(stages.length),
    String(suggested.length),
    median === undefined ? '-' : median.toFixed(2),
    formatFraction(above.length / later.length),
    formatFraction(shareRight(above)),
    String(held.length),
  ];
}

export const DRAFT_HEADS = ['drafts', 'characters', 'shown per 100', 'accepted of shown', 'characters saved'];

export function draftCells(typed: readonly TypingResult[]): string[] {
  const total = (of: keyof TypingResult) => typed.reduce((sum, one) => sum + one[of], 0);
  return [
    String(typed.length),
    String(total('characters')),
    ((100 * total('shown')) / total('characters')).toFixed(1),
    formatFraction(total('accepted') / total('shown')),
    formatFraction(total('saved') / total('characters')),
  ];
}

function shareRight(judged: readonly JudgedPrediction[]): number {
  return judged.filter(({ right }) => right).length / judged.length;
}

const formatFraction = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(3));

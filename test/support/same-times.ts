/** Times of one round: two calls of one class and two of the other, made in random order. */
export type Round = readonly [one: readonly [number, number], other: readonly [number, number]];

export interface Difference {
  /** Trimmed mean; the true mean is within `plusMinusMs` of it with a probability of 99 %. */
  ms: number;
  plusMinusMs: number;
  /** Probability that chance makes as large a difference between equal classes. */
  p: number;
  /**
   * Advantage over chance in telling a call's class (the statistic of Kolmogorov and Smirnov): 0 to 1. By chance, even
   * equal classes have some.
   */
  advantage: number;
  pOfAdvantage: number;
}

export interface Comparison {
  classes: Difference;
  /** The same statistic of the same calls, between halves that each have one call of each class: noise. */
  control: Difference;
}

const PERMUTATIONS = 10_000;
/** Share cut off at each end: outliers that the machine caused. */
const TRIMMED_SHARE = 0.1;
/** Quantile of the normal distribution that covers 99 % on both sides together. */
const Z_99 = 2.576;

/**
 * Compares the times of two classes of calls. If the classes are equal, all four calls of a round are exchangeable, so
 * permutations within the rounds show what chance does. The control has exactly the noise of the comparison.
 */
export function compareTimes(rounds: readonly Round[]): Comparison {
  return {
    classes: difference(rounds),
    control: difference(
      rounds.map(
        ([[a, b], [c, d]]) =>
          [
            [a, c],
            [b, d],
          ] as const,
      ),
    ),
  };
}

function difference(rounds: readonly Round[]): Difference {
  const differences = rounds.map(([[a, b], [c, d]]) => (a + b - c - d) / 2);
  const advantage = advantageOf(rounds);
  const ms = trimmedMean(differences);
  const chance = { shift: 0, shape: 0 };
  for (let n = 0; n < PERMUTATIONS; n += 1) {
    const signs = rounds.map(() => (Math.random() < 0.5 ? 1 : -1));
    const flipped = differences.map((one, round) => one * (signs[round] ?? 1));
    if (Math.abs(trimmedMean(flipped)) >= Math.abs(ms)) chance.shift += 1;
    if (advantage(signs) >= advantage()) chance.shape += 1;
  }
  return {
    ms,
    plusMinusMs: Z_99 * standardError(differences),
    p: (chance.shift + 1) / (PERMUTATIONS + 1),
    advantage: advantage(),
    pOfAdvantage: (chance.shape + 1) / (PERMUTATIONS + 1),
  };
}

/** Returns a function that computes the advantage when the classes are swapped in the rounds with sign -1. */
function advantageOf(rounds: readonly Round[]): (signs?: readonly number[]) => number {
  const calls = rounds
    .flatMap((round, at) =>
      round.flatMap((times, side) => times.map((ms) => ({ ms, at, step: side === 0 ? 1 : -1 }))),
    )
    .sort((a, b) => a.ms - b.ms);
  const ofEach = calls.length / 2;
  return (signs) => {
    let ahead = 0;
    let most = 0;
    for (const { at, step } of calls) {
      ahead += step * (signs?.[at] ?? 1);
      most = Math.max(most, Math.abs(ahead));
    }
    return most / ofEach;
  };
}

function trimmedMean(values: readonly number[]): number {
  const { kept } = trim(values);
  return kept.reduce((sum, one) => sum + one, 0) / kept.length;
}

/** Standard error of the trimmed mean, from the winsorized variance (Tukey and McLaughlin). */
function standardError(values: readonly number[]): number {
  const { kept, cut } = trim(values);
  const [first = 0] = kept;
  const winsorized = [...kept, ...Array(cut).fill(first), ...Array(cut).fill(kept.at(-1) ?? 0)];
  const mean = winsorized.reduce((sum, one) => sum + one, 0) / values.length;
  const variance = winsorized.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length) / (1 - 2 * TRIMMED_SHARE);
}

function trim(values: readonly number[]): { kept: Float64Array; cut: number } {
  const cut = Math.floor(values.length * TRIMMED_SHARE);
  const sorted = Float64Array.from(values).sort();
  return { kept: sorted.subarray(cut, values.length - cut), cut };
}

/** The times of one round: two calls of one class and two of the other, made in random order. */
export type Round = readonly [one: readonly [number, number], other: readonly [number, number]];

/** How much longer calls of one class take than those of another. */
export interface Difference {
  /** The trimmed mean, and how far the true one may be from it, with a probability of 99 %. */
  ms: number;
  plusMinusMs: number;
  /** How often chance makes as large a difference between classes that are alike. */
  p: number;
  /**
   * How much better than chance one call tells its class, by the best threshold there is (the statistic of Kolmogorov
   * and Smirnov): 0 is not at all, 1 is always. Calls that are alike have one as well, by chance.
   */
  advantage: number;
  pOfAdvantage: number;
}

export interface Comparison {
  /** Between the classes. */
  classes: Difference;
  /** The same statistic of the same calls, but between halves of which each has one call of either class: noise. */
  control: Difference;
}

const PERMUTATIONS = 10_000;
/** Of each end: what the machine did meanwhile. */
const TRIMMED = 0.1;
/** Of the normal distribution, for 99 % on both sides. */
const Z_99 = 2.576;

/**
 * Compares the times of two classes of calls. All four calls of a round are exchangeable if the classes are alike, so
 * chance is what permutations of them within their rounds show; and the control has the very noise of the comparison.
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

/** The advantage when the classes of the rounds with the sign -1 are exchanged. */
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

/** Of the trimmed mean: by the winsorized variance (Tukey and McLaughlin). */
function standardError(values: readonly number[]): number {
  const { kept, cut } = trim(values);
  const [first = 0] = kept;
  const winsorized = [...kept, ...Array(cut).fill(first), ...Array(cut).fill(kept.at(-1) ?? 0)];
  const mean = winsorized.reduce((sum, one) => sum + one, 0) / values.length;
  const variance = winsorized.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length) / (1 - 2 * TRIMMED);
}

function trim(values: readonly number[]): { kept: Float64Array; cut: number } {
  const cut = Math.floor(values.length * TRIMMED);
  const sorted = Float64Array.from(values).sort();
  return { kept: sorted.subarray(cut, values.length - cut), cut };
}

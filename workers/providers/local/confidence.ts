export interface ConfidenceBasis {
  probability: number;
  /** Number of texts of the request and of memory that contain the continuation. */
  support: number;
  words: number;
  /** Length of the continuation in UTF-16 units. */
  length: number;
  depth: number;
  share: number;
  begun: boolean;
  /** Number of typed characters of an unfinished word. */
  typed: number;
}

/**
 * Weights fitted by logistic regression to real typing: `bench/quality/typing/main.ts --fit`. What only the background
 * has needs weights of its own.
 */
const WEIGHTS = {
  own: [-1.191, 0.648, 0.243, -0.022, 0.461, -0.309, -0.264, 1.455, -0.317],
  background: [-1.441, 0.443, 0, 0.168, 0.031, -0.954, -0.597, 0.294, 0.951],
} as const;

export function featuresOf(basis: ConfidenceBasis): number[] {
  const { probability, support, words, length, depth, share, begun, typed } = basis;
  return [
    1,
    Math.log(probability / (1 - Math.min(probability, 0.9999))),
    Math.log(1 + support),
    Math.min(depth, 4),
    Math.log(1 + typed),
    words - 1,
    Math.log(length),
    share,
    Number(begun),
  ];
}

export function confidenceOf(basis: ConfidenceBasis, bias: number): number {
  const weights = WEIGHTS[basis.support === 0 ? 'background' : 'own'];
  const z = featuresOf(basis).reduce((sum, value, place) => sum + value * (weights[place] ?? 0), bias);
  return 1 / (1 + Math.exp(-z));
}

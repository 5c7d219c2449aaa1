export interface ConfidenceBasis {
  probability: number;
  /** Number of texts of the request and of memory that contain the continuation. */
  support: number;
  words: number;
  /** Length of the continuation in UTF-16 units. */
  length: number;
  depth: number;
  share: number;
  /** Number of typed characters of the word that the continuation ends; 0 if it begins with another word. */
  typed: number;
  /** True inside an address, a path or the like. */
  inAddress: boolean;
  /** True if no other word is known that could follow. */
  isOnly: boolean;
}

/**
 * Weights fitted by logistic regression to real typing: `bench/quality/typing/main.ts --fit`. What only the background
 * has needs weights of its own, and so does the end of a begun word.
 */
const WEIGHTS = {
  'own, end': [-0.746, 0.905, 0.215, 0.419, 0.47, -0.666, -0.292, -0.26, 1.297, 0.951, -0.985, 0.198],
  'own, next': [-1.705, 0.524, 0.725, 0.095, 0, -0.169, -0.357, -0.217, 1.044, -0.048, -0.62, 1.22],
  'background, end': [-0.837, 0.433, 0, 0.088, 0.113, -1.205, -0.506, 0.683, 0.914, -1.276, 0.276, 0],
  'background, next': [0.038, 0.948, 0, -0.315, 0, -0.39, -0.111, -1.352, -0.031, -0.872, 1.671, 0],
} as const;

export type Kind = keyof typeof WEIGHTS;

export const kindOf = ({ support, typed }: ConfidenceBasis): Kind =>
  `${support === 0 ? 'background' : 'own'}, ${typed > 0 ? 'end' : 'next'}`;

export function featuresOf(basis: ConfidenceBasis): number[] {
  const { probability, support, words, length, depth, share, typed, inAddress, isOnly } = basis;
  return [
    1,
    Math.log(probability / (1 - Math.min(probability, 0.9999))),
    Math.log(1 + support),
    Math.min(depth, 4),
    Math.log(1 + typed),
    words - 1,
    Math.log(length),
    share,
    Number(inAddress),
    Number(isOnly),
    // Where the longest match goes on otherwise, the person rather writes something new.
    Number(share === 0),
    isOnly ? Math.log(1 + support) : 0,
  ];
}

export function confidenceOf(basis: ConfidenceBasis, bias: number): number {
  const weights = WEIGHTS[kindOf(basis)];
  const z = featuresOf(basis).reduce((sum, value, place) => sum + value * (weights[place] ?? 0), bias);
  return 1 / (1 + Math.exp(-z));
}

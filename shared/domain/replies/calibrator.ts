/** A prediction labelled by the person's decision. */
export interface Label {
  features: Features;
  agent: string;
  model: string;
  /** True if the person would have sent the predicted reply. */
  right: boolean;
}

/** Weights that turn a candidate's features into a confidence, for one account. */
export interface CalibratorModel {
  weights: readonly number[];
  /** Offsets of the intercept, for the agents and the models with the most labels. */
  agents: Readonly<Record<string, number>>;
  models: Readonly<Record<string, number>>;
}

/** Maximum number of labels used: the latest ones. */
export const LABELS_MAX = 2000;
/** Number of newer labels after which a label counts half. */
const HALF_LIFE_LABELS = 200;
/** Maximum numbers of agents and of models with an offset. The ones with the most labels get it. */
const AGENTS_MAX = 12;
const MODELS_MAX = 4;

/** Weights for an account without labels. They are cautious, because an automatic reply speaks for a person. */
const PRIOR_MEANS = [-0.8, 0.7, 0.5, 1, -1, 0.3, -0.25];
/** Standard deviations of `PRIOR_MEANS`: wide for weights that differ much between accounts. */
const PRIOR_DEVIATIONS = [1, 0.75, 0.5, 1, 0.5, 0.5, 0.5];
const OFFSET_DEVIATION = 0.5;
/** Indexes of weights that are never negative, so that a higher raw probability never lowers the confidence. */
const NON_NEGATIVE_WEIGHTS = [1, 2];

const STEPS_MAX = 100;
/** The fit ends with a step in which no weight changes by more. */
const STEP_MIN = 1e-4;

export const PRIOR_CALIBRATOR: CalibratorModel = { weights: PRIOR_MEANS, agents: {}, models: {} };

/**
 * Returns the probability that the person would send the candidate unchanged or nearly so, with four decimals. With
 * otherwise equal features, it never falls when the raw probability or its margin rises.
 */
export function confidenceOf(
  { weights, agents, models }: CalibratorModel,
  features: Features,
  { agent, model }: Pick<Label, 'agent' | 'model'>,
): number {
  const x = vectorOf(features);
  const z = dot(x, weights, x.length) + offsetOf(agent, agents) + offsetOf(model, models);
  return Math.round(logistic(z) * 10_000) / 10_000;
}

/** Uses `hasOwn`, because a client chooses the name: `constructor` would find an inherited property. */
function offsetOf(name: string, offsets: CalibratorModel['agents']): number {
  return Object.hasOwn(offsets, name) ? (offsets[name] ?? 0) : 0;
}

/**
 * Fits a logistic regression, whose weights have a Gaussian prior, to the newest labels. Pass the newest label first.
 */
export function fitCalibrator(labels: readonly Label[]): CalibratorModel {
  const latest = labels.slice(0, LABELS_MAX);
  if (latest.length === 0) return PRIOR_CALIBRATOR;
  const agents = mostLabelled(latest, 'agent', AGENTS_MAX);
  const models = mostLabelled(latest, 'model', MODELS_MAX);
  const rows = latest.map(({ features, agent, model, right }, place) => ({
    x: [
      ...vectorOf(features),
      ...agents.map((name) => Number(name === agent)),
      ...models.map((name) => Number(name === model)),
    ],
    y: Number(right),
    weight: 2 ** (-place / HALF_LIFE_LABELS),
  }));
  const offsets = agents.length + models.length;
  const deviations = [...PRIOR_DEVIATIONS, ...Array<number>(offsets).fill(OFFSET_DEVIATION)];
  const fittedWeights = minimizeLoss({
    rows,
    means: [...PRIOR_MEANS, ...Array<number>(offsets).fill(0)],
    precisions: deviations.map((deviation) => 1 / deviation ** 2),
  });
  const from = PRIOR_MEANS.length;
  return {
    weights: fittedWeights.slice(0, from),
    agents: Object.fromEntries(agents.map((name, i) => [name, at(fittedWeights, from + i)])),
    models: Object.fromEntries(models.map((name, i) => [name, at(fittedWeights, from + agents.length + i)])),
  };
}

interface FitProblem {
  rows: readonly { x: number[]; y: number; weight: number }[];
  means: number[];
  precisions: number[];
}

/**
 * Newton's method with the largest curvature that the loss can have, a quarter for each row (Böhning and Lindsay 1988).
 * So no step goes too far. Keeps a weight of `NON_NEGATIVE_WEIGHTS` at 0 if its gradient is positive (projected Newton:
 * Bertsekas 1982).
 */
function minimizeLoss(problem: FitProblem): number[] {
  const { rows, means, precisions } = problem;
  const curvatureOf = (i: number, j: number) =>
    rows.reduce(
      (sum, { x, weight }) => sum + (weight * at(x, i) * at(x, j)) / 4,
      i === j ? at(precisions, i) : 0,
    );
  const curvatures = means.map((_, i) => means.map((_, j) => curvatureOf(i, j)));
  const beta = [...means];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const gradient = gradientAt(problem, beta);
    const isKept = (value: number, i: number) =>
      NON_NEGATIVE_WEIGHTS.includes(i) && value === 0 && at(gradient, i) > 0;
    const free = beta.flatMap((value, i) => (isKept(value, i) ? [] : i));
    const matrix = free.map((i) => free.map((j) => at(curvatures[i], j)));
    const solution = solveLinear(
      matrix,
      free.map((i) => at(gradient, i)),
    );
    for (const [place, i] of free.entries())
      beta[i] = Math.max(NON_NEGATIVE_WEIGHTS.includes(i) ? 0 : -Infinity, at(beta, i) - at(solution, place));
    if (solution.every((change) => Math.abs(change) < STEP_MIN)) break;
  }
  return beta;
}

/** Returns the gradient of the negative logarithm of the posterior density. */
function gradientAt({ rows, means, precisions }: FitProblem, beta: readonly number[]): number[] {
  const gradient = beta.map((value, i) => at(precisions, i) * (value - at(means, i)));
  for (const { x, y, weight } of rows) {
    const error = weight * (logistic(dot(x, beta, x.length)) - y);
    for (const [i, xi] of x.entries()) gradient[i] = at(gradient, i) + error * xi;
  }
  return gradient;
}

function mostLabelled(labels: readonly Label[], property: 'agent' | 'model', max: number): string[] {
  const counts = [...Map.groupBy(labels, (label) => label[property])];
  counts.sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
  return counts.slice(0, max).map(([name]) => name);
}

const logistic = (z: number): number => 1 / (1 + Math.exp(-z));

/** Solves a symmetric positive definite system, for which Gauss-Jordan elimination needs no pivoting. */
function solveLinear(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, at(vector, i)]);
  for (const [i, pivot] of rows.entries())
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = at(row, i) / at(pivot, i);
      for (let j = i; j < row.length; j += 1) row[j] = at(row, j) - factor * at(pivot, j);
    }
  return rows.map((row, i) => at(row, rows.length) / at(row, i));
}

function dot(a: readonly number[], b: readonly number[], length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i += 1) sum += at(a, i) * at(b, i);
  return sum;
}

function at(vector: readonly number[] | undefined, index: number): number {
  return vector?.[index] ?? 0;
}

/** Features from which a candidate's confidence is computed: plain numbers, no text of a person. */
export interface Features {
  /** Probability according to the predictor, from 0 to 1. */
  raw: number;
  /** Difference between `raw` and the `raw` of the best other candidate; negative if the other one's is higher. */
  margin: number;
  /** Share of the vote (`createVoter`) that goes to replies with the same meaning, from 0 to 1. */
  support: number;
  /** True if, according to the predictor, the reply needs a fact that the predictor does not know. */
  needsUnknownFact: boolean;
  /** True if the prompt asks for an approval or a choice. */
  closed: boolean;
  words: number;
}

/** Bounds of a probability, so that its odds stay finite. */
const [RAW_MIN, RAW_MAX] = [0.005, 0.995];

/** Returns the numbers to which the weights apply. The first, for the intercept, is 1. */
function vectorOf({ raw, margin, support, needsUnknownFact, closed, words }: Features): number[] {
  const p = Math.min(RAW_MAX, Math.max(RAW_MIN, raw));
  return [
    1,
    Math.log(p / (1 - p)),
    margin,
    support,
    Number(needsUnknownFact),
    Number(closed),
    Math.log2(Math.max(1, words)),
  ];
}

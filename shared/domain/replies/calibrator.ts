/** A prediction on which its person has decided. */
export interface Label {
  features: Features;
  agent: string;
  model: string;
  /** True if the person would have sent just that. */
  right: boolean;
}

/** The weights of a candidate's features, for one account. */
export interface Calibrator {
  weights: readonly number[];
  /** Added to the intercept for an agent or a model with many labels. */
  agents: Readonly<Record<string, number>>;
  models: Readonly<Record<string, number>>;
}

/** Labels that count, the latest first. */
export const LABELS_MAX = 2000;
/** A label weighs half as much as the one so many places before it. */
const HALF_LIFE = 200;
/** Agents and models with offsets of their own: those with the most labels. */
const AGENTS_MAX = 12;
const MODELS_MAX = 4;

/** The weights without any label: sceptical, because an automatic reply speaks for a person. */
const PRIOR_MEANS = [-0.8, 0.7, 0.5, 1, -1, 0.3, -0.25];
/** Wide for what differs most: how far a model may be believed, and how far a person keeps to their habits. */
const PRIOR_DEVIATIONS = [1, 0.75, 0.5, 1, 0.5, 0.5, 0.5];
const OFFSET_DEVIATION = 0.5;
/** Weights of the raw probability and the margin: never negative, so that a better raw one is never reversed. */
const NOT_NEGATIVE = [1, 2];

const STEPS_MAX = 60;
const HALVINGS_MAX = 40;
const TOLERANCE = 1e-10;

/** The calibrator of an account without labels. */
export const UNCALIBRATED: Calibrator = { weights: PRIOR_MEANS, agents: {}, models: {} };

/**
 * The confidence in a candidate: the probability that the person would send it unchanged or nearly so. With four decimals.
 * For otherwise equal features it never falls when the raw probability or its margin rises.
 */
export function calibrated(
  { weights, agents, models }: Calibrator,
  features: Features,
  { agent, model }: Pick<Label, 'agent' | 'model'>,
): number {
  const z = sum(vectorOf(features), weights) + offsetOf(agent, agents) + offsetOf(model, models);
  return Math.round(logistic(z) * 10_000) / 10_000;
}

/** A name may be one that every object inherits, such as `constructor`. */
function offsetOf(name: string, offsets: Calibrator['agents']): number {
  return Object.hasOwn(offsets, name) ? (offsets[name] ?? 0) : 0;
}

/**
 * Fits a calibrator to labels, the latest first: logistic regression with a Gaussian prior, its maximum found by Newton's
 * method with step halving (plain Newton diverges here). A function of the labels alone: it always starts from the prior,
 * so that no restart and no order of recalibrations changes a number.
 */
export function calibrate(labels: readonly Label[]): Calibrator {
  const latest = labels.slice(0, LABELS_MAX);
  if (latest.length === 0) return UNCALIBRATED;
  const agents = mostLabelled(latest, 'agent', AGENTS_MAX);
  const models = mostLabelled(latest, 'model', MODELS_MAX);
  const rows = latest.map(({ features, agent, model, right }, place) => ({
    x: [
      ...vectorOf(features),
      ...agents.map((name) => Number(name === agent)),
      ...models.map((name) => Number(name === model)),
    ],
    y: Number(right),
    weight: 2 ** (-place / HALF_LIFE),
  }));
  const offsets = agents.length + models.length;
  const deviations = [...PRIOR_DEVIATIONS, ...Array<number>(offsets).fill(OFFSET_DEVIATION)];
  const found = maximize({
    rows,
    means: [...PRIOR_MEANS, ...Array<number>(offsets).fill(0)],
    precisions: deviations.map((deviation) => 1 / deviation ** 2),
  });
  const from = PRIOR_MEANS.length;
  return {
    weights: found.slice(0, from),
    agents: Object.fromEntries(agents.map((name, i) => [name, at(found, from + i)])),
    models: Object.fromEntries(models.map((name, i) => [name, at(found, from + agents.length + i)])),
  };
}

interface Problem {
  rows: readonly { x: number[]; y: number; weight: number }[];
  means: number[];
  precisions: number[];
}

function maximize(problem: Problem): number[] {
  let beta = [...problem.means];
  let loss = lossOf(problem, beta);
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const direction = newtonStep(problem, beta);
    const next = descended(problem, beta, direction, loss);
    if (next === undefined) break;
    const gain = loss - next.loss;
    ({ beta, loss } = next);
    if (gain < TOLERANCE) break;
  }
  return beta;
}

/** The first of the step, its half, its quarter… that lowers the loss. */
function descended(problem: Problem, beta: number[], direction: number[], before: number) {
  for (let halving = 0; halving < HALVINGS_MAX; halving += 1) {
    const tried = beta.map((value, i) => bounded(i, value - at(direction, i) * 2 ** -halving));
    const loss = lossOf(problem, tried);
    if (loss < before) return { beta: tried, loss };
  }
  return undefined;
}

const bounded = (place: number, value: number) => (NOT_NEGATIVE.includes(place) ? Math.max(0, value) : value);

/** Weights at their bound which the gradient would push beyond it stay there (projected Newton: Bertsekas 1982). */
function newtonStep({ rows, means, precisions }: Problem, beta: number[]): number[] {
  const gradient = beta.map((value, i) => at(precisions, i) * (value - at(means, i)));
  const hessian = beta.map((_, i) => beta.map((_, j) => (i === j ? at(precisions, i) : 0)));
  for (const { x, y, weight } of rows) {
    const p = logistic(sum(x, beta));
    const curvature = weight * p * (1 - p);
    for (const [i, xi] of x.entries()) {
      if (xi === 0) continue;
      gradient[i] = at(gradient, i) + weight * (p - y) * xi;
      const row = hessian[i] ?? [];
      for (let j = 0; j <= i; j += 1) row[j] = (row[j] ?? 0) + curvature * xi * (x[j] ?? 0);
    }
  }
  const free = beta.flatMap((value, i) =>
    NOT_NEGATIVE.includes(i) && value === 0 && at(gradient, i) > 0 ? [] : [i],
  );
  const reduced = free.map((i) => free.map((j) => at(hessian[i], j)));
  const rest = free.map((i) => at(gradient, i));
  const solution = solve(reduced, rest);
  const step = beta.map(() => 0);
  for (const [place, i] of free.entries()) step[i] = at(solution, place);
  return step;
}

/** The negative logarithm of the posterior density, up to a constant. */
function lossOf({ rows, means, precisions }: Problem, beta: number[]): number {
  let loss = 0;
  for (const { x, y, weight } of rows) {
    const z = sum(x, beta);
    // log(1 + exp(z)) without overflow
    loss += weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - y * z);
  }
  return beta.reduce(
    (total, value, i) => total + (at(precisions, i) * (value - at(means, i)) ** 2) / 2,
    loss,
  );
}

/** The agents or models with the most labels, at most `most` of them; equal ones by name. */
function mostLabelled(labels: readonly Label[], of: 'agent' | 'model', most: number): string[] {
  const counts = [...Map.groupBy(labels, (label) => label[of])];
  counts.sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
  return counts.slice(0, most).map(([name]) => name);
}

/** The inner loop of the fit. */
function sum(a: readonly number[], b: readonly number[]): number {
  let total = 0;
  for (let i = 0; i < a.length; i += 1) total += (a[i] ?? 0) * (b[i] ?? 0);
  return total;
}

const logistic = (z: number): number => 1 / (1 + Math.exp(-z));

/**
 * Solves `matrix · x = vector` for a symmetric positive definite matrix, by Cholesky decomposition (Golub and Van Loan,
 * Matrix Computations, 4.2). Only the lower triangle is read.
 */
export function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const lower = decomposed(matrix);
  const forward: number[] = [];
  for (const [i, row] of lower.entries()) forward.push((at(vector, i) - dot(row, forward, i)) / at(row, i));
  const solution = [...forward];
  for (let i = lower.length - 1; i >= 0; i -= 1) {
    let sum = at(forward, i);
    for (let j = i + 1; j < lower.length; j += 1) sum -= at(lower[j], i) * at(solution, j);
    solution[i] = sum / at(lower[i], i);
  }
  return solution;
}

function decomposed(matrix: readonly (readonly number[])[]): number[][] {
  const lower: number[][] = [];
  for (const [i, row] of matrix.entries()) {
    const found: number[] = [];
    for (let j = 0; j < i; j += 1) found.push((at(row, j) - dot(lower[j], found, j)) / at(lower[j], j));
    found.push(Math.sqrt(at(row, i) - dot(found, found, i)));
    lower.push(found);
  }
  return lower;
}

/** The inner product of the first `length` elements. */
function dot(a: readonly number[] | undefined, b: readonly number[], length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i += 1) sum += at(a, i) * at(b, i);
  return sum;
}

/** An element; 0 beyond the end. */
export function at(vector: readonly number[] | undefined, index: number): number {
  return vector?.[index] ?? 0;
}

/** The features that the confidence in a candidate is calibrated from: plain numbers, no text of a person. */
export interface Features {
  /** The probability that the predictor itself gives, from 0 to 1. */
  raw: number;
  /** Its lead over the best of the other candidates; negative for those behind. */
  margin: number;
  /** Share of the person's replies to the most similar prompts that say the same, from 0 to 1. */
  support: number;
  /** True if the predictor says that the answer needs something which it does not know. */
  needsUnknownFact: boolean;
  /** True if an approval or a choice is asked for. */
  closed: boolean;
  words: number;
}

/** Bounds of a probability whose odds are taken. */
const [LEAST, MOST] = [0.005, 0.995];

/** The features as the numbers that the weights apply to; the first is for the intercept. */
export function vectorOf({ raw, margin, support, needsUnknownFact, closed, words }: Features): number[] {
  const p = Math.min(MOST, Math.max(LEAST, raw));
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

import { calibrate, type Label, UNCALIBRATED } from '../../shared/domain/replies/calibrator.ts';
import { decideReply } from '../../shared/domain/replies/decide.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { reliabilityOf } from '../../shared/domain/replies/reliability.ts';
import { screen } from '../../shared/domain/replies/screen.ts';
import { saysTheSame } from '../../shared/domain/replies/text.ts';
import { type Pair, voteOf } from '../../shared/domain/replies/vote.ts';
import type { Turn } from './personas.ts';
import type { Predictor } from './predictors.ts';

const NOTHING = { profile: null, facts: [], episodes: [], raw: [], examples: [] };
const BUDGET_TOKENS = 6000;
const WHO = { agent: 'coder', model: 'bench' };
const THRESHOLD = 0.8;

/** One prediction, judged by what the person really replied. */
export interface Judged {
  /** Decisions that the confidence was calibrated from. */
  labels: number;
  predicted: boolean;
  auto: boolean;
  confidence: number;
  right: boolean;
}

/** Predicts each turn from those before it, then learns from it, as the product does. */
export async function follow(turns: readonly Turn[], predictor: Predictor): Promise<Judged[]> {
  const judged: Judged[] = [];
  // The latest first, like the product's stores.
  const pairs: Pair[] = [];
  const labels: Label[] = [];
  for (const [place, { prompt, reply }] of turns.entries()) {
    const vote = voteOf(prompt, pairs);
    const decided = decideReply(await predictor(prompt, pairs), {
      ...WHO,
      prompt,
      threshold: THRESHOLD,
      calibrator: labels.length === 0 ? UNCALIBRATED : calibrate(labels),
      suspicion: screen([prompt], fitMaterial(prompt, NOTHING, BUDGET_TOKENS)).suspicion,
      history: pairs.map((pair) => pair.reply),
      supportOf: vote.shareOf,
    });
    const { response, features, confidence, status } = decided;
    const right = saysTheSame(response, reply);
    const predicted = response !== '';
    judged.push({ labels: labels.length, predicted, auto: status === 'auto', confidence, right });
    if (features !== null) labels.unshift({ features, ...WHO, right });
    pairs.unshift({ id: String(place).padStart(6, '0'), prompt, reply });
  }
  return judged;
}

export interface Quality {
  turns: number;
  /** Share of all turns with a prediction, and share of the predictions that were right. */
  coverage: number;
  top1: number;
  brier: number;
  ece: number;
  autoRate: number;
  autoPrecision: number;
}

export function qualityOf(judged: readonly Judged[]): Quality {
  const predicted = judged.filter((one) => one.predicted);
  const auto = judged.filter((one) => one.auto);
  const { bins, brier } = reliabilityOf(predicted);
  const ece = bins.reduce(
    (sum, bin) => sum + (bin.count / predicted.length) * Math.abs(bin.mean_confidence - bin.observed),
    0,
  );
  return {
    turns: judged.length,
    coverage: predicted.length / judged.length,
    top1: shareRight(predicted),
    brier: brier ?? Number.NaN,
    ece,
    autoRate: auto.length / judged.length,
    autoPrecision: shareRight(auto),
  };
}

function shareRight(judged: readonly Judged[]): number {
  return judged.filter(({ right }) => right).length / judged.length;
}

import type { Verdicts } from '../../shared/db/stores/prediction-events.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { Guess } from '../providers/provider.ts';

/** Added to the numbers of accepted and of dismissed suggestions, so that a few of them have little effect. */
const PRIOR_VERDICTS = 10;
/** Limits the effect of accepted suggestions, which say little if the app does not report dismissed ones. */
const BIAS_MAX = 0.5;

/** Returns the log-odds that a person accepts a suggestion, relative to the average. */
export function biasOf(taken: number, dismissed: number): number {
  return Math.min(BIAS_MAX, Math.log((taken + PRIOR_VERDICTS) / (dismissed + PRIOR_VERDICTS)));
}

/** Returns a model's confidence after a person's verdicts; the built-in predictor has taken them into account. */
export function judgedConfidence(
  { confidence, model }: Pick<Guess, 'confidence' | 'model'>,
  { taken, dismissed }: Verdicts,
): number {
  if (model === LOCAL_MODEL) return confidence;
  const odds = (confidence / (1 - Math.min(confidence, 0.9999))) * Math.exp(biasOf(taken, dismissed));
  return odds / (1 + odds);
}

import type { PredictionFacts, PredictionReport } from '../domain/prediction.ts';
import { defineKind } from './kind.ts';

/** A completion of a draft, or the next prompt, for an app's user: `POST /v1/predictions`. */
export const predict = defineKind<PredictionFacts, PredictionReport>({
  name: 'predict',
  pool: 'predict',
  step: 1,
  charged: true,
  deadline: 'predictionTimeoutMs',
});

/** Every kind of work there is. */
export const kinds = { predict };

import type { JobReport } from '../domain/jobs.ts';
import type { PredictionFacts, PredictionReport } from '../domain/prediction.ts';
import type { SyncResult } from '../schemas/memory-jobs.ts';
import { defineKind } from './kind.ts';

/** A completion of a draft, or the next prompt, for an app's user: `POST /v1/predictions`. */
export const predict = defineKind<PredictionFacts, PredictionReport>({
  name: 'predict',
  pool: 'predict',
  step: 1,
  charged: true,
  deadline: 'predictionTimeoutMs',
  codes: { timeout: 'prediction_timeout', cancelled: 'prediction_cancelled' },
  outlivesCallers: false,
  oneAtATime: false,
});

/** What the party asked for stands in the input. */
export type NoFacts = Record<never, never>;

const job = {
  pool: 'memory',
  step: 1,
  charged: false,
  codes: { timeout: 'job_timeout', cancelled: 'job_cancelled' },
  outlivesCallers: true,
} as const;

/** Takes what an account has recorded into its memory: `POST /api/memory/sync/`. */
export const sync = defineKind<NoFacts, JobReport<SyncResult>>({
  ...job,
  name: 'sync',
  deadline: 'syncTimeoutMs',
  oneAtATime: true,
});

/** The kinds that an account's `/api/jobs/` shows, by the names that it shows. */
export const jobKinds = { sync };

/** Every kind of work there is. */
export const kinds = { predict, ...jobKinds };

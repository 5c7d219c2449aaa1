import { jobRows } from '../db/stores/jobs.ts';
import { batchRows, partRows } from '../db/stores/replies/batches.ts';
import { replyRows } from '../db/stores/replies/outcome.ts';
import type { DraftReport, PredictionFacts, PredictionReport } from '../domain/prediction.ts';
import type { AskerTerms, BatchReplyFacts, BatchReport, ReplyReport } from '../domain/replies/work.ts';
import type { JobReport } from '../domain/work.ts';
import { DraftInput } from '../schemas/drafts.ts';
import { PromoteInput, type PromoteResult, SyncRequest, type SyncResult } from '../schemas/jobs.ts';
import { PredictionInput } from '../schemas/predictions.ts';
import { BatchInput, ReplyInput } from '../schemas/replies.ts';
import type { Kind } from './kind.ts';

/** Facts of a kind that has none. */
export type NoFacts = Record<never, never>;

const predictionBase = {
  costs: 'tokens',
  codes: { timeout: 'prediction_timeout', cancelled: 'prediction_cancelled' },
  oneAtATime: false,
} as const;

/** Completes a draft or predicts the next prompt of an app's user: `POST /v1/predictions`. */
export const predict: Kind<typeof PredictionInput, PredictionFacts, PredictionReport> = {
  ...predictionBase,
  name: 'predict',
  input: PredictionInput,
  pool: 'predict',
  parties: 'apps',
  costs: 'unit',
  deadline: 'predictionTimeoutMs',
  outlivesCallers: false,
  recall: 'recall_prediction_v1',
};

/** Predicts the reply that an account's person would give to an agent: `POST /api/predictions/predict/`. */
export const reply: Kind<typeof ReplyInput, AskerTerms, ReplyReport> = {
  ...predictionBase,
  name: 'reply',
  input: ReplyInput,
  pool: 'predict',
  parties: 'accounts',
  deadline: 'replyTimeoutMs',
  outlivesCallers: true,
  changes: 'predictions',
  rows: replyRows,
};

/** Predicts what an account's person types next, without an app: `POST /api/predictions/draft/`. */
export const draft: Kind<typeof DraftInput, NoFacts, DraftReport> = {
  ...predictionBase,
  name: 'draft',
  input: DraftInput,
  pool: 'predict',
  parties: 'accounts',
  deadline: 'predictionTimeoutMs',
  outlivesCallers: false,
};

/** Predicts one reply of a batch, by the deadline of the batch, whose admission has looked at the tokens. */
export const batchReply: Kind<typeof ReplyInput, BatchReplyFacts, ReplyReport> = {
  ...predictionBase,
  name: 'batch_reply',
  costs: null,
  input: ReplyInput,
  pool: 'batch',
  parties: 'accounts',
  deadline: 'batchTimeoutMs',
  outlivesCallers: true,
  changes: 'predictions',
  rows: partRows,
};

const jobBase = {
  pool: 'memory',
  parties: 'accounts',
  costs: 'tokens',
  codes: { timeout: 'job_timeout', cancelled: 'job_cancelled' },
  outlivesCallers: true,
  oneAtATime: true,
  changes: 'memory',
  rows: jobRows,
} as const;

/** Adds the recorded events of an account to its memory: `POST /api/memory/sync/`. */
export const sync: Kind<typeof SyncRequest, NoFacts, JobReport<SyncResult>> = {
  ...jobBase,
  name: 'sync',
  costs: null,
  input: SyncRequest,
  deadline: 'syncTimeoutMs',
};

type PromotionKind = Kind<typeof PromoteInput, NoFacts, JobReport<PromoteResult>>;
const promotionBase = { ...jobBase, input: PromoteInput, deadline: 'promoteTimeoutMs' } as const;

/** Makes episodes from an account's raw rows: `POST /api/memory/promote/episodes/`. */
export const promoteEpisodes: PromotionKind = { ...promotionBase, name: 'promote_episodes' };

/** Distils facts from an account's episodes: `POST /api/memory/promote/facts/`. */
export const promoteFacts: PromotionKind = { ...promotionBase, name: 'promote_facts' };

/** Predicts the replies to many prompts, from one memory bundle: `POST /api/predictions/predict/batch/`. */
export const predictBatch: Kind<typeof BatchInput, AskerTerms, JobReport<BatchReport>> = {
  ...jobBase,
  pool: 'batch',
  name: 'predict_batch',
  input: BatchInput,
  deadline: 'batchTimeoutMs',
  oneAtATime: false,
  changes: 'predictions',
  rows: batchRows,
};

export const jobKinds = {
  sync,
  promote_episodes: promoteEpisodes,
  promote_facts: promoteFacts,
  predict_batch: predictBatch,
};

/** In this order an erasure ends them: a batch before its predictions, so that none of these ends the batch. */
export const kinds = { predict, reply, draft, ...jobKinds, batch_reply: batchReply };

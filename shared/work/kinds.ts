import type { JobReport } from '../domain/jobs.ts';
import type { PredictionFacts, PredictionReport } from '../domain/prediction.ts';
import type { BatchReplyFacts, BatchReport } from '../domain/replies/batch.ts';
import type { ReplyReport } from '../domain/replies/report.ts';
import type { PromoteResult, SyncResult } from '../schemas/memory-jobs.ts';
import { defineKind } from './kind.ts';

/** A completion of a draft, or the next prompt, for an app's user: `POST /v1/predictions`. */
export const predict = defineKind<PredictionFacts, PredictionReport>({
  name: 'predict',
  pool: 'predict',
  parties: 'apps',
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
  parties: 'accounts',
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

/** Makes episodes of an account's raw rows: `POST /api/memory/promote/episodes/`. */
export const promoteEpisodes = defineKind<NoFacts, JobReport<PromoteResult>>({
  ...job,
  name: 'promote_episodes',
  deadline: 'promoteTimeoutMs',
  oneAtATime: true,
});

/** Distils facts from an account's episodes: `POST /api/memory/promote/facts/`. */
export const promoteFacts = defineKind<NoFacts, JobReport<PromoteResult>>({
  ...job,
  name: 'promote_facts',
  deadline: 'promoteTimeoutMs',
  oneAtATime: true,
});

/** What an account's person would reply to an agent: `POST /api/predictions/predict/`. */
export const reply = defineKind<NoFacts, ReplyReport>({
  name: 'reply',
  pool: 'predict',
  parties: 'accounts',
  charged: false,
  deadline: 'replyTimeoutMs',
  codes: { timeout: 'prediction_timeout', cancelled: 'prediction_cancelled' },
  outlivesCallers: true,
  oneAtATime: false,
});

/** One reply of a batch. */
export const batchReply = defineKind<BatchReplyFacts, ReplyReport>({
  name: 'batch_reply',
  pool: 'batch',
  parties: 'accounts',
  charged: false,
  // Those of a batch end with it.
  deadline: 'batchTimeoutMs',
  codes: { timeout: 'prediction_timeout', cancelled: 'prediction_cancelled' },
  outlivesCallers: true,
  oneAtATime: false,
});

/** Replies to many prompts, from one memory bundle: `POST /api/predictions/predict/batch/`. */
export const predictBatch = defineKind<NoFacts, JobReport<BatchReport>>({
  ...job,
  pool: 'batch',
  name: 'predict_batch',
  deadline: 'batchTimeoutMs',
  oneAtATime: false,
  parts: batchReply,
});

/** The kinds that an account's `/api/jobs/` shows, by the names that it shows. */
export const jobKinds = {
  sync,
  promote_episodes: promoteEpisodes,
  promote_facts: promoteFacts,
  predict_batch: predictBatch,
};

/** Every kind of work there is. */
export const kinds = { predict, reply, batch_reply: batchReply, ...jobKinds };

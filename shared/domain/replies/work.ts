import type { ReplyContext } from '../../schemas/replies.ts';
import type { Steps } from '../work.ts';
import type { ReplyDecision } from './decide.ts';

/** Report of a prediction, which becomes columns of its row (`stores/replies/outcome.ts`). */
export interface ReplyReport extends ReplyDecision {
  model: string;
  latency_ms: number;
  input_tokens: number;
  output_tokens: number;
  context: ReplyContext;
}

/** Limits of the account and the key that asked for a prediction. */
export interface AskerTerms {
  /** The lowest threshold in force, whatever the request says. */
  thresholdFloor: number;
  /** The key that they used; null for a log-in. */
  keyId: string | null;
}

export function thresholdInForce(requested: number, { thresholdFloor }: AskerTerms): number {
  return Math.max(requested, thresholdFloor);
}

export interface BatchReplyFacts extends AskerTerms {
  /** Id of the batch. */
  batch: string;
}

/** The memory that the predictions of a batch share: ids of rows, not their texts. */
export interface BatchBundle {
  memoryRevision: number;
  /** Parts of the profile that fitted into the budget. */
  profile: { summary: boolean; data: boolean };
  factIds: string[];
  episodeIds: string[];
  rawIds: string[];
  /** True if material was left out for lack of room, or because reading the memory took too long. */
  truncated: boolean;
}

/** Progress of a batch whose predictions are queued. */
export interface BatchProgress {
  steps: Steps;
  /** Ids of the predictions, in the order of the prompts. */
  ids: string[];
  bundle: BatchBundle;
}

/** Report of a batch. The HTTP response is made from the rows of the predictions. */
export interface BatchReport {
  ids: string[];
  latency_ms: number;
}

import type { ReplyContext } from '../../schemas/replies.ts';
import type { Steps } from '../work.ts';
import type { ReplyDecision } from './decide.ts';

/** Report of a prediction. The database trigger `reply_ended` writes the properties to columns of `replies`. */
export interface ReplyReport extends ReplyDecision {
  model: string;
  latency_ms: number;
  input_tokens: number;
  output_tokens: number;
  context: ReplyContext;
}

export interface BatchReplyFacts {
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

/** Progress of a batch. Its first attempt stores it; later attempts continue from it. */
export interface BatchProgress {
  steps: Steps;
  /** Ids of the predictions, in the order of the prompts. */
  ids: string[];
  bundle: BatchBundle;
  /** Milliseconds from the start of the first attempt to the deadline. */
  begunWithMs: number;
}

/** Report of a batch. The HTTP response is made from the rows of the predictions. */
export interface BatchReport {
  ids: string[];
  latency_ms: number;
}

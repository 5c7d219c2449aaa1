import type { ReplyContext } from '../../schemas/replies.ts';
import type { Steps } from '../work.ts';
import type { Decided } from './decide.ts';

/** The report of a prediction that succeeds: columns of `replies`, which the trigger `reply_ended` fills. */
export interface ReplyReport extends Decided {
  model: string;
  latency_ms: number;
  input_tokens: number;
  output_tokens: number;
  context: ReplyContext;
}

/** The facts of a reply of a batch at its admission. */
export interface BatchReplyFacts {
  /** The id of the batch's work. */
  batch: string;
}

/** The memory that the predictions of a batch share: which rows, not their texts. */
export interface BatchBundle {
  memoryRevision: number;
  /** The parts of the profile that there was room for. */
  profile: { summary: boolean; data: boolean };
  factIds: string[];
  episodeIds: string[];
  rawIds: string[];
  /** True if something was left out for lack of room. */
  truncated: boolean;
}

/** The progress that a batch keeps from its first attempt on. */
export interface BatchProgress {
  steps: Steps;
  /** The ids of its predictions, in the order of the prompts. */
  ids: string[];
  bundle: BatchBundle;
  /** The time that was left when it began. */
  begunWithMs: number;
}

/** The report of a batch: its answer is made from the rows of its predictions. */
export interface BatchReport {
  ids: string[];
  latency_ms: number;
}

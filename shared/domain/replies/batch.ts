import type { Steps } from '../jobs.ts';

/** What is known of a reply of a batch at its admission. */
export interface BatchReplyFacts {
  /** The id of the batch's work. */
  batch: string;
}

/** The memory that the predictions of a batch share: which rows, not their texts. */
export interface BatchBundle {
  memoryRevision: number;
  /** Which parts of the profile there was room for. */
  profile: { summary: boolean; data: boolean };
  factIds: string[];
  episodeIds: string[];
  rawIds: string[];
  /** Whether something was left out for lack of room. */
  truncated: boolean;
}

/** What a batch keeps from its first attempt on. */
export interface BatchProgress {
  steps: Steps;
  /** Of its predictions, in the order of the prompts. */
  ids: string[];
  bundle: BatchBundle;
  /** The time that was left when it began. */
  begunWithMs: number;
}

/** What a batch reports: its answer is made from the rows of its predictions. */
export interface BatchReport {
  ids: string[];
  latency_ms: number;
}

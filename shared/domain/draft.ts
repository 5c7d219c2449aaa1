import type { DraftContext, DraftResponse } from '../schemas/drafts.ts';

/** The report of a draft's worker: it stays with the history, so it has no text of a person. */
export interface DraftReport extends Pick<DraftResponse, 'confidence' | 'model' | 'usage'> {
  context: DraftContext;
  memoryMs: number;
  modelMs: number;
}

/** The texts of its answer, as JSON, which are gone after the recovery window. */
export type DraftTexts = Required<Pick<DraftResponse, 'completion' | 'sent'>>;

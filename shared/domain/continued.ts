import type { PredictionFacts, PredictionReport } from './prediction.ts';

/** A completion that a person was shown, and how it came about. */
export interface Suggestion {
  id: string;
  answer: string;
  facts: PredictionFacts;
  report: PredictionReport;
  /** The fingerprint of a draft, as the facts have it. */
  hashOf(draft: string): string;
  /** The person did not want it. */
  dismissed: boolean;
}

/**
 * Returns the rest of a suggestion that the person is typing; empty if they are typing something else, or all else is not as it
 * was: the context, the mode, what the app wants to see.
 */
export function restOf(last: Suggestion, draft: string, facts: PredictionFacts): string {
  const { draftLength, draftHash, draftRevision, contextHash, minConfidence } = last.facts;
  const isOther =
    last.dismissed ||
    facts.mode !== 'complete_draft' ||
    last.facts.mode !== 'complete_draft' ||
    contextHash !== facts.contextHash ||
    draftRevision >= facts.draftRevision ||
    minConfidence < facts.minConfidence;
  const typed = draft.slice(draftLength);
  if (isOther || typed === '' || !last.answer.startsWith(typed)) return '';
  return last.hashOf(draft.slice(0, draftLength)) === draftHash ? last.answer.slice(typed.length) : '';
}

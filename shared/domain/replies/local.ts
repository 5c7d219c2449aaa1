import type { Proposed } from './decide.ts';
import type { Vote } from './vote.ts';

/** A longer reply belongs to its own prompt and is not used again. */
const REUSABLE_MAX = 80;
/** How much the similar prompts count, beside how often the person says this at all. */
const VOTE_SHARE = 0.7;
/** Less probable replies are not worth showing. */
const LEAST = 0.15;

/**
 * The built-in predictor of replies: what the person replied to similar prompts, without any model. It abstains unless they
 * have answered this kind of prompt the same way before.
 */
export function proposeLocally(prompt: string, vote: Vote, pairs: number, k: number): Proposed {
  const candidates = vote.replies
    .filter(({ response }) => response !== '' && [...response].length <= REUSABLE_MAX)
    .map(({ response, share, times }) => ({
      response,
      reasoning: `The person's own reply to similar prompts; they gave it ${times} ${times === 1 ? 'time' : 'times'}.`,
      raw: VOTE_SHARE * share + (1 - VOTE_SHARE) * (times / (pairs + 1)),
      needsUnknownFact: false,
    }))
    .filter(({ raw }) => raw >= LEAST)
    .sort((a, b) => b.raw - a.raw)
    .slice(0, k);
  return { candidates, closed: isClosed(prompt), reason: reasonOf(vote) };
}

function reasonOf({ neighbours }: Vote): string {
  return neighbours.length === 0
    ? 'No prompt like this is in the memory.'
    : 'Similar prompts are in the memory, but the person did not answer them the same way often enough.';
}

const QUESTION_MAX = 500;

/** Whether a prompt ends with a question for an approval or a choice, as far as its words show it. */
function isClosed(prompt: string): boolean {
  const end = prompt.trimEnd().slice(-QUESTION_MAX);
  const question = /[^.!?\n]*\?$/u.exec(end)?.[0].trim().toLowerCase() ?? '';
  return /^(?:\W*)(?:shall|should|may|can|could|do|does|did|is|are|will|would|ok|okay|ready|proceed|continue|soll|darf|kann)\b/u.test(
    question,
  );
}

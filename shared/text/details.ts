import { wordSet, wordsOf } from './words.ts';

/** Words that turn a statement into its opposite. */
export const NEGATION_WORDS = wordSet(`
  no not never none nothing neither nor without cannot dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt
  wont cant shouldnt wouldnt couldnt mustnt stopped avoid avoids except
  kein keine keinen nicht nie niemals ohne ne pas jamais sans ni sin nunca non mai senza`);
/** Numbers, weekdays, months, and words of order (`first`, `before`). */
export const NUMBER_AND_DATE_WORDS = wordSet(`
  zero one two three four five six seven eight nine ten eleven twelve first second third once twice half
  monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
  january february march april may june july august september october november december
  before after`);

/** Returns the words that can change what a text states: numbers, dates and negations. */
export function detailsOf(text: string): Set<string> {
  const words = wordsOf(text.replaceAll(/['’]/g, ''));
  return new Set(
    words.filter(
      (word) => /\p{N}/u.test(word) || NEGATION_WORDS.has(word) || NUMBER_AND_DATE_WORDS.has(word),
    ),
  );
}

export function haveSameDetails(a: string, b: string): boolean {
  return detailsOf(a).symmetricDifference(detailsOf(b)).size === 0;
}

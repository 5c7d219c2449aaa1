import { isWordBoundary } from '../../../shared/text/phrases.ts';

/** Completes what has been typed so far; returns an empty text for no completion. */
export type Complete = (draft: string) => Promise<string>;

export interface TypingResult {
  characters: number;
  keys: number;
  /** Number of suggestions shown; each counts once, however many keys it stayed for. */
  shown: number;
  /** Number of suggestions accepted, because the text continued exactly so. */
  taken: number;
  /** Number of characters in accepted suggestions, minus one key each. */
  saved: number;
}

const NOTHING_TYPED: TypingResult = { characters: 0, keys: 0, shown: 0, taken: 0, saved: 0 };

/**
 * Types a text key by key, and accepts a suggestion if the text continues exactly so and the suggestion does not end
 * inside a word. A suggestion that only loses the keys just typed counts as the same one.
 */
export async function typeOut(text: string, complete: Complete): Promise<TypingResult> {
  const typed = { ...NOTHING_TYPED, characters: text.length };
  let suggested = '';
  for (let at = 1; at < text.length; at += 1) {
    typed.keys += 1;
    const draft = text.slice(0, at);
    const suggestion = await complete(draft);
    if (suggestion === '') continue;
    if (draft + suggestion !== suggested) typed.shown += 1;
    suggested = draft + suggestion;
    if (!isTyped(text, suggested)) continue;
    typed.taken += 1;
    typed.saved += suggestion.length - 1;
    at = suggested.length;
  }
  return typed;
}

/** Reports whether a text begins with `beginning`, and the beginning does not end inside a word. */
export function isTyped(text: string, beginning: string): boolean {
  return text.startsWith(beginning) && isWordBoundary(text, beginning.length);
}

export function total(all: readonly TypingResult[]): TypingResult {
  const sum = (of: keyof TypingResult) => all.reduce((whole, one) => whole + one[of], 0);
  return {
    characters: sum('characters'),
    keys: sum('keys'),
    shown: sum('shown'),
    taken: sum('taken'),
    saved: sum('saved'),
  };
}

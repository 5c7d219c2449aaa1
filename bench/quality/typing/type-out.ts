import { draftEndOf, isWordBoundary, nextWord } from '../../../shared/text/phrases.ts';

/** Completes what has been typed so far; returns the choices, the likeliest first. */
export type Complete = (draft: string) => Promise<readonly string[]>;

export interface TypingResult {
  characters: number;
  keys: number;
  /** Number of suggestions shown; each counts once, however many keys it stayed for. */
  shown: number;
  /** Number of suggestions accepted. */
  taken: number;
  /** Number of characters in accepted suggestions. */
  accepted: number;
  /** Number of these that are in the text. */
  kept: number;
  /**
   * Number of kept characters, minus one key for each accepted suggestion, one for each choice before it, and one for
   * each character that is deleted again.
   */
  saved: number;
}

const NOTHING_TYPED: TypingResult = {
  characters: 0,
  keys: 0,
  shown: 0,
  taken: 0,
  accepted: 0,
  kept: 0,
  saved: 0,
};

/**
 * Types a text key by key, and accepts a suggestion if the text continues exactly so and the suggestion does not end
 * inside a word. Who is eager accepts it if its first word is right, and deletes the rest. A suggestion that only loses
 * the keys just typed counts as the same one.
 */
export async function typeOut(text: string, complete: Complete, isEager = false): Promise<TypingResult> {
  const typed = { ...NOTHING_TYPED, characters: text.length };
  let suggested: string[] = [];
  for (let at = 1; at < text.length; at += 1) {
    typed.keys += 1;
    const draft = text.slice(0, at);
    const choices = await complete(draft);
    if (choices.length === 0) continue;
    const wholes = choices.map((choice) => draft + choice);
    if (!wholes.every((whole) => suggested.includes(whole))) typed.shown += 1;
    suggested = wholes;
    const kept = choices.map((choice) => keptOf(text, draft, choice, isEager));
    const place = kept.findIndex((characters) => characters > 0);
    const [choice, characters] = [choices[place], kept[place]];
    if (choice === undefined || characters === undefined) continue;
    typed.taken += 1;
    typed.accepted += choice.length;
    typed.kept += characters;
    typed.saved += characters - 1 - place - (choice.length - characters);
    at += characters;
  }
  return typed;
}

/** Returns the number of characters of a choice that are in the text if the choice is accepted, or else 0. */
function keptOf(text: string, draft: string, choice: string, isEager: boolean): number {
  if (isTyped(text, draft + choice)) return choice.length;
  const first = nextWord(choice, draftEndOf(draft).begun);
  if (!isEager || first === '' || !isTyped(text, draft + first)) return 0;
  let kept = first.length;
  while (kept < choice.length && choice[kept] === text[draft.length + kept]) kept += 1;
  return kept;
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
    accepted: sum('accepted'),
    kept: sum('kept'),
    saved: sum('saved'),
  };
}

import { isLowSurrogate } from '../../../shared/text/cut.ts';
import { positionedWords, wordsOf } from '../../../shared/text/words.ts';

const EXCERPT_CHARS_MAX = 500;
/** Characters before the first word found. */
const LEAD_CHARS = 100;

/** Returns about 500 characters of a longer text: where it has most of the query's words, or else its beginning. */
export function excerptOf(text: string, query: string): string {
  if (text.length <= EXCERPT_CHARS_MAX) return text;
  const found = Math.max(0, placeOf(query, text) - LEAD_CHARS);
  const start = atCharacter(text, Math.min(found, text.length - EXCERPT_CHARS_MAX));
  const end = atCharacter(text, start + EXCERPT_CHARS_MAX);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

/** Returns where the part of the text begins that has the most letters of different words of the query. */
function placeOf(query: string, text: string): number {
  const stems = [...new Set(wordsOf(query).map(stemOf))];
  const hits = positionedWords(text).flatMap(({ word, start }) => {
    const stem = stems.find((one) => word.startsWith(one));
    return stem === undefined ? [] : { stem, start };
  });
  const counts = new Map<string, number>();
  let best = { place: 0, letters: 0 };
  let letters = 0;
  let first = 0;
  for (const { stem, start } of hits) {
    const count = counts.get(stem) ?? 0;
    if (count === 0) letters += stem.length;
    counts.set(stem, count + 1);
    for (
      let left = hits[first];
      left !== undefined && start - left.start > EXCERPT_CHARS_MAX - LEAD_CHARS;
    ) {
      const rest = (counts.get(left.stem) ?? 0) - 1;
      counts.set(left.stem, rest);
      if (rest === 0) letters -= left.stem.length;
      first += 1;
      left = hits[first];
    }
    if (letters > best.letters) best = { place: hits[first]?.start ?? 0, letters };
  }
  return best.place;
}

/** Cuts off what inflection may change. */
function stemOf(word: string): string {
  return word.slice(0, Math.max(4, word.length - 2));
}

function atCharacter(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at;
}

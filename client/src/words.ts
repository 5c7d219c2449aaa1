/** A text whose first letter is of a script that is written from right to left. */
export const RIGHT_TO_LEFT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

interface Word {
  text: string;
  /** False for a space and a mark. */
  isWord: boolean;
}

const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter(undefined, { granularity: 'word' }) : undefined;

/** Returns the beginning of a text up to the end of its first word, or of the marks before a word. */
export function firstWordOf(text: string): string {
  let first = '';
  for (const { text: part, isWord } of wordsOf(text)) {
    if (first.trim() !== '' && (isWord || part.trim() === '')) break;
    first += part;
    if (isWord) break;
  }
  return first;
}

export function countWords(text: string): number {
  let count = 0;
  for (const { isWord } of wordsOf(text)) if (isWord) count += 1;
  return count;
}

/**
 * Returns the share of a text's characters, in thousandths of one, that are left in a message: those of its words that
 * the message has in the same order (longest common subsequence).
 */
export function retainedShare(text: string, message: string): number {
  const words = [...wordsOf(text)].filter(isNoSpace);
  let best = words.map(() => 0);
  for (const { text: said } of [...wordsOf(message)].filter(isNoSpace)) {
    const before = best;
    best = [];
    for (const [at, { text: word }] of words.entries()) {
      const taken = word === said ? (before[at - 1] ?? 0) + word.length : 0;
      best.push(Math.max(taken, before[at] ?? 0, best[at - 1] ?? 0));
    }
  }
  const length = words.reduce((sum, { text: word }) => sum + word.length, 0);
  return length === 0 ? 1 : Math.round((1000 * (best.at(-1) ?? 0)) / length) / 1000;
}

const isNoSpace = ({ text }: Word) => text.trim() !== '';

function* wordsOf(text: string): Generator<Word> {
  if (segmenter === undefined) {
    for (const [part] of text.matchAll(/\s+|\S+/g)) yield { text: part, isWord: part.trim() !== '' };
    return;
  }
  for (const { segment, isWordLike } of segmenter.segment(text))
    yield { text: segment, isWord: isWordLike ?? false };
}

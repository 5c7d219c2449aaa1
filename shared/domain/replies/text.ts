/** A text as it is compared: compatibility forms, case, white space and punctuation at its ends do not count. */
export function normalized(text: string): string {
  const signs = [...text.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ')];
  // Not by a pattern with `+$`, whose time is quadratic in a run of punctuation.
  const from = signs.findIndex((sign) => !EDGE.test(sign));
  const to = signs.findLastIndex((sign) => !EDGE.test(sign));
  return signs.slice(Math.max(0, from), to + 1).join('');
}

const EDGE = /[\s\p{P}]/u;

/** Its words in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** From 0 to 1: the trigrams that two texts share, of all that they have. */
export function similarity(a: string, b: string): number {
  const [one, other] = [trigramsOf(a), trigramsOf(b)];
  const all = one.union(other).size;
  return all === 0 ? 1 : one.intersection(other).size / all;
}

function trigramsOf(text: string): Set<string> {
  const padded = `  ${normalized(text)} `;
  const trigrams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at += 1) trigrams.add(padded.slice(at, at + 3));
  return trigrams;
}

/** From this similarity on two replies count as the same. */
const SAME = 0.9;

/** Whether two replies say the same: equal when normalized, or nearly so. */
export function saysTheSame(a: string, b: string): boolean {
  return normalized(a) === normalized(b) || similarity(a, b) >= SAME;
}

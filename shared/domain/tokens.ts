/**
 * Estimates, in quarters of a token, what a code point costs with the usual tokenizers: a token is four Latin letters, two
 * of other alphabets, or one character of Chinese, Japanese or Korean, or emoji.
 */
export function quarterTokens(codePoint: number): number {
  if (codePoint < 0x250) return 1;
  return codePoint < 0x2e80 ? 2 : 4;
}

/** The same for a text, in whole tokens. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (const character of text) quarters += quarterTokens(character.codePointAt(0) ?? 0);
  return Math.ceil(quarters / 4);
}

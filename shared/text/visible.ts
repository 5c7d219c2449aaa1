const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Stops a stranger's text from controlling the terminal, forging a table row or reversing nearby text. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(
    INVISIBLE_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

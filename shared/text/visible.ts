const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes invisible characters in a text that a stranger chose, so that it can be shown to an operator: it must not
 * control the terminal, forge a table row or reverse the text beside it.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(
    INVISIBLE_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

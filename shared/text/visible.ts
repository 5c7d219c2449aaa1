const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Stops a stranger's text from controlling the terminal, forging a table row or reversing nearby text. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(
    INVISIBLE_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/**
 * Everything for a terminal is written by this function. Leaves only line feeds: escape a text that must stay in its
 * line.
 */
export function print(text: string, stream: NodeJS.WritableStream = process.stdout): void {
  stream.write(text.replaceAll(/[^\n]+/g, escapeInvisible));
}

/**
 * Returns JSON of the same data as `JSON.stringify`, which itself leaves C1 controls and marks of direction as they
 * are.
 */
export function printableJson(data: unknown): string {
  return JSON.stringify(data).replaceAll(INVISIBLE_CHARACTERS, (character) =>
    [...Array(character.length).keys()]
      .map((unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

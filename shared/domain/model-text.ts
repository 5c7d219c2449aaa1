/**
 * Control characters except tab and line feed, and the characters that reorder the text around them (bidirectional
 * embeddings, overrides and isolates: Unicode Standard Annex 9, 2). In a terminal or an editor they hide what a text
 * says, or control the terminal: a carriage return overwrites its line. The marks that right-to-left scripts need (LRM,
 * RLM, ALM) do not reorder other text, and are allowed.
 */
const UNSAFE_CHARACTERS = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Reports whether a model's text may be shown to a person or stored: it is well-formed, and has no characters that make
 * it look or act like another text. A text that fails this check makes the model's answer unusable.
 */
export function isDisplayable(text: string): boolean {
  return text.isWellFormed() && text.search(UNSAFE_CHARACTERS) < 0;
}

/** Removes unsafe characters from a person's well-formed text, so that it can be shown beside Forecue's own words. */
export function removeUndisplayable(text: string): string {
  return text.replaceAll(UNSAFE_CHARACTERS, '');
}

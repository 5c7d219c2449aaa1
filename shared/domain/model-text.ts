/**
 * Control characters but tab and line feed, and the characters that reorder the text around them (bidirectional
 * embeddings, overrides and isolates: Unicode Standard Annex 9, 2). In a terminal or an editor they hide what a text
 * says, or act on their own; a carriage return overwrites its line. The marks that right-to-left scripts need (LRM, RLM,
 * ALM) only affect themselves and may stay.
 */
const UNSAFE = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Reports whether a text that a model wrote may be shown to a person or stored: well-formed, and without characters that
 * make it look or act like another text. Whatever a model writes passes this check; a text that fails it makes the answer
 * unusable.
 */
export function isDisplayable(text: string): boolean {
  return text.isWellFormed() && text.search(UNSAFE) < 0;
}

/** A person's well-formed text as it may be shown beside what we say: without those characters. */
export function displayed(text: string): string {
  return text.replaceAll(UNSAFE, '');
}

/**
 * Control characters except tab, line feed and a carriage return before it, and characters that reorder the text around
 * them (Unicode Standard Annex 9, 2). They hide what a text says, or control a terminal. The marks LRM, RLM and ALM are
 * allowed, because right-to-left scripts need them.
 */
const UNSAFE_CHARACTERS = /[^\P{Cc}\t\n\r]|\r(?!\n)|[\u202a-\u202e\u2066-\u2069]/gu;

/** Reports whether a model's text may be shown or stored. */
export function isDisplayable(text: string): boolean {
  return text.isWellFormed() && text.search(UNSAFE_CHARACTERS) < 0;
}

export function removeUndisplayable(text: string): string {
  return text.replaceAll(UNSAFE_CHARACTERS, '');
}

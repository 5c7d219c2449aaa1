/** How a sentence begins that tells somebody what to do, or that is written for a machine. */
const INSTRUCTION = new RegExp(
  [
    '^\\W*(?:',
    '(?:system|assistant|important|note|remember|ignore|disregard|forget|override|obey|always|never|please|from now on|',
    "do not|don['’]?t|you (?:must|should|shall|will|may|can|are)|make sure|be sure|ensure|execute|run|reply|respond|answer|",
    'output|print|approve|accept|allow|confirm|delete|send|reveal|share|skip|treat|act as)\\b|',
    '(?:the|an?|any|all|every) (?:assistants?|agents?|models?|ai|system)\\b)',
  ].join(''),
  'i',
);
const ADDRESSES_MACHINE =
  /\b(?:(?:the|an?|any|every) )?(?:assistant|agent|model|ai|system)s? (?:must|should|shall|may|can|is allowed|has to|needs? to)\b/i;

/** Whether a text is worded as an instruction rather than as a statement about a person. */
export function isInstruction(text: string): boolean {
  return INSTRUCTION.test(text) || ADDRESSES_MACHINE.test(text);
}

/**
 * What a person told an assistant to do, as a statement about the person: `Says: "Never force-push."` A fact is something
 * that is known, wherever it is shown, and commands nobody.
 */
export function asStatement(text: string): string {
  return isInstruction(text) ? `Says: "${text}"` : text;
}

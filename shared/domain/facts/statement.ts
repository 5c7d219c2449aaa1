/** A raw row as evidence is looked for in it. */
export interface SourceRow {
  id: string;
  content: string;
  role: string | null;
  origin: string;
  occurredAt: Date;
}

/** Words of a raw row that support a statement. */
export interface Quote {
  rawId: string;
  words: string;
}

export interface CheckedQuote extends Quote {
  /** True if they are the person's. */
  own: boolean;
}

/** Something that was stated about the person, its evidence checked: a fact, if memory has no reason against it. */
export interface Statement {
  text: string;
  kind: string | null;
  /** The subject that it settles, of which a person has one at a time: `tool.editor`. */
  slot: string | null;
  origin: 'model' | 'extractive';
  /** From 0 to 1. */
  confidence: number;
  /** Since when it holds: as stated, else since the person said so. */
  validFrom: Date;
  validTo: Date | null;
  /** One for each row, words of the person first. */
  quotes: CheckedQuote[];
  /** The fact that it repeats or replaces, in the opinion of who stated it. */
  target: { id: string; relation: 'duplicate' | 'supersedes' } | null;
}

/** Reports whether a person said and wrote it: an accepted prediction is said by a person, but written by us. */
export function isEvidence({ role, origin }: Pick<SourceRow, 'role' | 'origin'>): boolean {
  return role === 'human' && origin === 'human';
}

/** Beginnings of sentences that command somebody, or that are written for a machine. */
const INSTRUCTION = new RegExp(
  [
    '^\\W*(?:',
    '(?:system|assistant|important|note|remember|ignore|disregard|forget|override|obey|always|never|please|from now on|',
    "do not|don['’]?t|you (?:must|should|shall|will|may|can|are)|make sure|be sure|ensure|execute|run|reply|respond|answer|",
    'bitte|immer|niemals|nie|ab jetzt|ab sofort|toujours|jamais|désormais|à partir de|por favor|de ahora en adelante|',
    'output|print|approve|accept|allow|confirm|delete|send|reveal|share|skip|treat|act as)\\b|',
    '(?:the|an?|any|all|every) (?:assistants?|agents?|models?|ai|system)\\b)',
  ].join(''),
  'i',
);
const ADDRESSES_MACHINE =
  /\b(?:(?:the|an?|any|every) )?(?:assistant|agent|model|ai|system)s? (?:must|should|shall|may|can|is allowed|has to|needs? to)\b/i;

/** Reports whether a text is worded as an instruction rather than as a statement about a person. */
export function isInstruction(text: string): boolean {
  return INSTRUCTION.test(text) || ADDRESSES_MACHINE.test(text);
}

/**
 * Turns a command to an assistant into a statement about the person: `Says: "Never force-push."` A fact is something
 * that is known, wherever it is shown, and commands nobody.
 */
export function asStatement(text: string): string {
  return isInstruction(text) ? `Says: "${text}"` : text;
}

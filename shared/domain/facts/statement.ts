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
  /** Whether they are the person's. */
  own: boolean;
}

/** Something that was stated about the person, its evidence checked: a fact, if memory has no reason against it. */
export interface Statement {
  text: string;
  kind: string | null;
  /** What it settles, of which a person has one at a time: `tool.editor`. */
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

/** Whether a person said it and wrote it: an accepted prediction is said by a person, but written by us. */
export function isEvidence({ role, origin }: Pick<SourceRow, 'role' | 'origin'>): boolean {
  return role === 'human' && origin === 'human';
}

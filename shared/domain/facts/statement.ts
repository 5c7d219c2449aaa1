import { containsSecret } from '../../text/secrets.ts';
import type { RawRow } from '../context-rows.ts';

export type SourceRow = Pick<RawRow, 'id' | 'content' | 'role' | 'origin' | 'occurredAt'>;

/** Words of a raw row that support a statement. */
export interface Quote {
  rawId: string;
  words: string;
}

export interface CheckedQuote extends Quote {
  /** True if the person wrote the words. */
  own: boolean;
}

/** A statement about the person, with checked evidence. Promotion turns it into a fact, adds it to one, or drops it. */
export interface Statement {
  text: string;
  kind: string | null;
  /** The statement gives the value of this topic, such as `tool.editor`. Each topic has one value at a time. */
  slot: string | null;
  origin: 'model' | 'extractive';
  /** From 0 to 1. */
  confidence: number;
  /** Time from which on the statement is valid: as stated, or else the time when the person said it. */
  validFrom: Date;
  validTo: Date | null;
  /** At most one quote per row, the person's own words first. */
  quotes: CheckedQuote[];
  /** Known fact whose text the statement repeats or replaces, as the model that made the statement says. */
  target: { id: string; relation: 'duplicate' | 'supersedes' } | null;
}

/** Reports whether a row is the person's own words. An accepted prediction is not: Forecue wrote it. */
export function isEvidence({ role, origin }: Pick<SourceRow, 'role' | 'origin'>): boolean {
  return role === 'human' && origin === 'human';
}

/** Matches a word for a password. "Password manager" is none. */
const PASSWORD_WORD =
  /(?<!\p{L})(?:pass(?:word|wort|phrase|[ -]?code)|kennwort|mots? de passe|contraseña)s?(?![\p{L}-]| managers?)/iu;
const PIN_WORD = /(?<!\p{L})PIN(?!\p{L})/u;

/** Reports whether a sentence may tell a secret: a password may stand anywhere beside a word for one. */
export function mayTellSecret(sentence: string): boolean {
  return containsSecret(sentence) || PASSWORD_WORD.test(sentence) || PIN_WORD.test(sentence);
}

const INSTRUCTION_BEGINNING = new RegExp(
  [
    '^\\W*(?:',
    '(?:system|assistant|important|note|remember|ignore|disregard|forget|override|obey|please|from now on|',
    // "Never eats meat" tells of a habit. Hardly any imperative ends like that: "Always focus", "Always address".
    "(?:always|never)(?! (?:has|[a-z'’-]*[^\\Waisu]s)\\b)|",
    "do not|don['’]?t|you (?:must|should|shall|will|may|can|are)|make sure|be sure|ensure|execute|run|reply|respond|answer|",
    'bitte|immer|niemals|nie|ab jetzt|ab sofort|toujours|jamais|désormais|à partir de|por favor|de ahora en adelante|',
    'output|print|approve|accept|allow|confirm|delete|send|reveal|share|skip|treat|act as)\\b|',
    '(?:the|an?|any|all|every) (?:assistants?|agents?|models?|ai|system)\\b)',
  ].join(''),
  'i',
);
const MACHINE_OBLIGATION =
  /\b(?:(?:the|an?|any|every) )?(?:assistant|agent|model|ai|system)s? (?:must|should|shall|may|can|is allowed|has to|needs? to)\b/i;

export function isInstruction(text: string): boolean {
  return INSTRUCTION_BEGINNING.test(text) || MACHINE_OBLIGATION.test(text);
}

const RETRACTION = new RegExp(
  [
    '\\b(?:forget|ignore|disregard) (?:(?:what|whatever|everything|anything|all(?: that)?) (?:I|we)\\b|',
    '(?:all )?(?:of )?(?:my|our|the) (?:earlier|previous|prior|last|former|old)\\b)|',
    '\\b(?:vergiss|vergesst|ignoriert?e?),? (?:was|alles,? was|mein\\w* (?:früher|vorherig|letzt|alt)\\w*) |',
    '\\b(?:oublie[zs]?|ignore[zs]?) (?:tout )?(?:ce que|mes? (?:derniers?|anciens?|messages? précédents?)) |',
    '\\b(?:olvid|ignor)[ae] (?:todo )?lo que ',
  ].join(''),
  'i',
);

/** Reports whether a text asks to forget an earlier statement. Such a text states nothing itself. */
export function isRetraction(text: string): boolean {
  return RETRACTION.test(text);
}

/** Returns `Says: "Never force-push."` for an instruction, so that a fact commands nobody who reads it. */
export function asStatement(text: string): string {
  return isInstruction(text) ? `Says: "${text}"` : text;
}

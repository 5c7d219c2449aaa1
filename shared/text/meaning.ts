import { verdictOf } from './assent.ts';
import { detailsOf } from './details.ts';
import { jaccard, trigramsOf } from './similarity.ts';
import { normalForm } from './words.ts';

/** Punctuation that is a part of names, paths, options and numbers, for a pattern. */
const MEANINGFUL_PUNCTUATION = [
  // `C#`, `5%`, `src/*`, `my_name`
  String.raw`[#%‰٪&*@/\\_]`,
  // `1.5`, `1,2`, `3:30`, and `v-2`
  String.raw`(?<=\p{N})\p{P}+(?=\p{N})|\p{Pd}(?=\p{N})`,
  // `.NET`, `../x`, `--force`, `-$5`, `!ready`, but not the dash of a list, nor an ellipsis
  String.raw`(?<![\p{L}\p{M}\p{N}.!-])[.!-]{1,2}(?=[\p{L}\p{N}\p{S}*@/\\_])`,
].join('|');
const PUNCTUATION = new RegExp(String.raw`(${MEANINGFUL_PUNCTUATION})|\p{P}`, 'gu');
const APOSTROPHES = new Set("'’");
const QUESTION_END = /[?？؟][\p{P}\s]*$/u;

/**
 * Unifies compatibility forms, case and white space. Removes apostrophes, and replaces other punctuation by a space
 * unless it is `MEANINGFUL_PUNCTUATION`. Keeps the question mark of a question.
 */
function normalizeReply(text: string): string {
  const normalized = normalForm(text, 'NFKC')
    .toLowerCase()
    .replaceAll(PUNCTUATION, (sign, meaningful?: string) => meaningful ?? (APOSTROPHES.has(sign) ? '' : ' '))
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return normalized !== '' && QUESTION_END.test(text) ? `${normalized}?` : normalized;
}

/** Matches a number with its sign, unit and separators. The marks before it are limited to keep matching linear. */
const MARKED_NUMBER = /[^\s\p{L}\p{N}]{0,3}\p{N}[^\s\p{L}]*/gu;

/** Minimum trigram similarity of two replies that count as the same. */
const SAME_MEANING_SIMILARITY_MIN = 0.9;

/** Ignores small differences, but not a different number, date or negation. */
export function haveSameMeaning(a: string, b: string, question = ''): boolean {
  return new ComparableReply(a, question).isSameAs(new ComparableReply(b, question));
}

/** Stores what replies are compared by, so that one can be compared with many others. */
export class ComparableReply {
  readonly #meaning: string;
  readonly #text: string;
  readonly #trigrams: ReadonlySet<string>;
  readonly #details: string;

  constructor(reply: string, question = '') {
    this.#meaning = meaningOf(reply, question);
    this.#text = normalizeReply(reply);
    this.#trigrams = trigramsOf([this.#text]);
    const numbers = new Set(this.#text.match(MARKED_NUMBER));
    this.#details = [...detailsOf(this.#text).union(numbers)].join(' ');
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  isSameAs(other: ComparableReply): boolean {
    if (this.#meaning === other.#meaning || this.#text === other.#text) return true;
    return (
      this.#details === other.#details &&
      jaccard(this.#trigrams, other.#trigrams) >= SAME_MEANING_SIMILARITY_MIN
    );
  }
}

/** Maximum length of a reply that is compared by its words, in UTF-16 units. */
const WORDS_COMPARED_MAX = 400;

/**
 * Returns what a reply says in the light of its question: `yes` or `no` for the known ways to say so, among them an
 * echo ("run them" to "Shall I run the tests?"), `option 2` for the ways to choose the second; for any other reply, its
 * normalized words, and so for a question ("ok?"). A long reply stays as it is: it recurs only as a copy, and
 * normalizing hundreds of long replies would hold up the process.
 */
export function meaningOf(reply: string, question = ''): string {
  const trimmed = reply.trim();
  if (trimmed.length > WORDS_COMPARED_MAX) return trimmed;
  const text = normalizeReply(trimmed.replaceAll(/\p{EMod}|\ufe0f/gu, ''));
  if (text.endsWith('?')) return text;
  return verdictOf(text.split(' '), question) ?? choiceOf(text, question) ?? text;
}

const OPTION = '(?:option|variant|variante|number|nummer|numéro|opción|choice|alternative)';
const CHOOSING =
  /^(?:(?:lets )?(?:go|stick) (?:with|for)|(?:lets )?(?:use|take|pick|choose)|i(?:d| would)? (?:prefer|choose|take|pick)|nimm|nehmen wir|ich nehme|prends|je prends|utilise|usa|elige|toma) (?=.)/u;
const ORDINALS = [
  /^(?:first|1st|erste[nrs]?|premi[eè]re?|1er|primer[oa]?)$/u,
  /^(?:second|2nd|zweite[nrs]?|deuxi[eè]me|seconde?|2e|segund[oa])$/u,
  /^(?:third|3rd|dritte[nrs]?|troisi[eè]me|3e|tercer[oa]?)$/u,
];
const CHOICE_NOUN = new RegExp(` (?:one|${OPTION})$`, 'u');
const LISTED = new RegExp(`^${OPTION} ([1-9a-d])$`, 'u');
/** Matches questions that a mere digit or letter answers by the place in a list. */
const ASKS_FOR_ONE = new RegExp(`\\b(?:which|welch\\w*|quel\\w*|cu[aá]l\\w*|${OPTION}s?)\\b`, 'iu');

/** Returns the choice that a reply makes, without the words for choosing; undefined if it has none. */
function choiceOf(text: string, question: string): string | undefined {
  const polite = text.replace(/^(?:please|bitte) | (?:please|bitte|thanks|danke|merci|gracias)$/u, '');
  const chosen = polite.replace(CHOOSING, '');
  const bare = chosen.replace(/^(?:the|der|die|das|den|le|la|el) /u, '');
  const place = ORDINALS.findIndex((ordinal) => ordinal.test(bare.replace(CHOICE_NOUN, '')));
  if (place >= 0) return `option ${place + 1}`;
  const listed =
    LISTED.exec(bare)?.[1] ?? (ASKS_FOR_ONE.test(question) ? /^[1-9a-d]$/u.exec(bare)?.[0] : undefined);
  if (listed !== undefined) return `option ${listed}`;
  return question !== '' && chosen !== polite ? chosen : undefined;
}

const QUESTION_CHARS_MAX = 500;

const CLOSED = new RegExp(
  `^\\W*(?:${[
    'shall|should|may|can|could|do|does|did|is|are|will|would|ok|okay|ready|proceed|continue',
    'soll|darf|kann|willst|möchtest|möchten',
    'quieres|quiere|deseas|desea|puedo|debo',
    'veux-tu|voulez-vous|souhaites-tu|souhaitez-vous|puis-je|dois-je|est-ce que je',
  ].join('|')})(?![\\p{L}\\p{N}_])`,
  'u',
);

/** Recognises questions for approval or a choice by their first word. */
export function endsWithClosedQuestion(prompt: string): boolean {
  const end = prompt.trimEnd().slice(-QUESTION_CHARS_MAX);
  const question = /[^.!?\n]*\?$/u.exec(end)?.[0].trim().toLowerCase() ?? '';
  return CLOSED.test(question);
}

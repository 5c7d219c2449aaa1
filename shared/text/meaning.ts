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

/**
 * Unifies compatibility forms, case and white space. Removes apostrophes, and replaces other punctuation by a space
 * unless it is `MEANINGFUL_PUNCTUATION`.
 */
function normalizeReply(text: string): string {
  return normalForm(text, 'NFKC')
    .toLowerCase()
    .replaceAll(PUNCTUATION, (sign, meaningful?: string) => meaningful ?? (APOSTROPHES.has(sign) ? '' : ' '))
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

/** Matches a number with its sign, unit and separators. The marks before it are limited to keep matching linear. */
const MARKED_NUMBER = /[^\s\p{L}\p{N}]{0,3}\p{N}[^\s\p{L}]*/gu;

/** Minimum trigram similarity of two replies that count as the same. */
const SAME_MEANING_SIMILARITY_MIN = 0.9;

/** Ignores small differences, but not a different number, date or negation. */
export function haveSameMeaning(a: string, b: string): boolean {
  return new ComparableReply(a).isSameAs(new ComparableReply(b));
}

/** Stores the normalized text, trigrams and details of a reply, so that it can be compared with many others. */
export class ComparableReply {
  readonly #text: string;
  readonly #trigrams: ReadonlySet<string>;
  readonly #details: string;

  constructor(reply: string) {
    this.#text = normalizeReply(reply);
    this.#trigrams = trigramsOf([this.#text]);
    const numbers = new Set(this.#text.match(MARKED_NUMBER));
    this.#details = [...detailsOf(this.#text).union(numbers)].join(' ');
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  isSameAs(other: ComparableReply): boolean {
    if (this.#text === other.#text) return true;
    return (
      this.#details === other.#details &&
      jaccard(this.#trigrams, other.#trigrams) >= SAME_MEANING_SIMILARITY_MIN
    );
  }
}

const phrasesIn = (phrases: string) => new Set(phrases.split('|').map((one) => one.trim()));

/** Ways to say yes or no, normalized. */
const ASSENTS = phrasesIn(
  `yes|y|yep|yeah|yup|ok|o k|okay|sure|sure thing|go|go ahead|go on|go for it|proceed|do it|do that|please do|continue|sounds good|
  looks good|lgtm|fine|agreed|approved|of course|absolutely|right|correct|k|ja|klar|gerne|oui|daccord|si|sí|sim|да|так|давай|ок|
  tak|ano|igen|kyllä|joo|evet|tamam|ναι|כן|نعم|हाँ|जी|có|vâng|ya|iya|ใช่|是|是的|好|好的|可以|同意|行|はい|うん|お願いします|네|예|응`,
);
const DENIALS = phrasesIn(
  'no|n|nope|nah|nein|non|não|nao|nie|ne|nee|nej|nei|ei|hayır|hayir|нет|ні|όχι|לא|لا|नहीं|không|tidak|ไม่|不|不要|不用|いいえ|아니요|아니',
);
const POLITE_PHRASES = phrasesIn(
  'please|thanks|thank you|bitte|danke|merci|por favor|gracias|grazie|пожалуйста|спасибо|proszę|谢谢',
);
const PHRASE_WORDS_MAX = 3;

/** Maximum length of a reply that is compared by its words, in UTF-16 units. */
const WORDS_COMPARED_MAX = 400;

/**
 * Returns `yes` or `no` for the known ways to say so; for any other reply, its normalized words. A long reply stays as
 * it is: it recurs only as a copy, and normalizing hundreds of long replies would hold up the process.
 */
export function meaningOf(reply: string): string {
  const trimmed = reply.trim();
  if (trimmed.length > WORDS_COMPARED_MAX) return trimmed;
  const text = normalizeReply(trimmed);
  const words = text.split(' ');
  if (consistsOf(words, ASSENTS)) return 'yes';
  return consistsOf(words, DENIALS) ? 'no' : text;
}

/** Reports whether the words consist of `phrases` and polite phrases, with at least one of `phrases`. */
function consistsOf(words: readonly string[], phrases: ReadonlySet<string>): boolean {
  let hasPhrase = false;
  for (let at = 0; at < words.length; ) {
    const length = [PHRASE_WORDS_MAX, 2, 1].find((count) => {
      const phrase = words.slice(at, at + count).join(' ');
      return at + count <= words.length && (phrases.has(phrase) || POLITE_PHRASES.has(phrase));
    });
    if (length === undefined) return false;
    hasPhrase ||= phrases.has(words.slice(at, at + length).join(' '));
    at += length;
  }
  return hasPhrase;
}

const QUESTION_CHARS_MAX = 500;

/** Recognises questions for approval or a choice by their first word. */
export function endsWithClosedQuestion(prompt: string): boolean {
  const end = prompt.trimEnd().slice(-QUESTION_CHARS_MAX);
  const question = /[^.!?\n]*\?$/u.exec(end)?.[0].trim().toLowerCase() ?? '';
  return /^(?:\W*)(?:shall|should|may|can|could|do|does|did|is|are|will|would|ok|okay|ready|proceed|continue|soll|darf|kann)\b/u.test(
    question,
  );
}

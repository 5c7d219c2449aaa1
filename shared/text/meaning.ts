import { detailsOf } from './details.ts';
import { jaccard, trigramsOf } from './similarity.ts';
import { normalForm } from './words.ts';

/** Unifies compatibility forms, case and white space, and removes the punctuation at the beginning and the end. */
export function normalizeReply(text: string): string {
  const characters = [...normalForm(text, 'NFKC').toLowerCase().replaceAll(/\s+/gu, ' ')];
  // A pattern with `+$` would take quadratic time on a run of punctuation.
  const from = characters.findIndex((character) => !EDGE_CHARACTER.test(character));
  const to = characters.findLastIndex((character) => !EDGE_CHARACTER.test(character));
  return characters.slice(Math.max(0, from), to + 1).join('');
}

const EDGE_CHARACTER = /[\s\p{P}]/u;

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
    this.#details = [...detailsOf(this.#text)].join(' ');
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
  `yes|y|yep|yeah|yup|ok|okay|sure|sure thing|go|go ahead|go on|go for it|proceed|do it|do that|please do|continue|sounds good|
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
  const text = normalizeReply(trimmed).replaceAll(/\p{P}+/gu, '');
  if (text === '') return text;
  const words = text.split(' ').filter((word) => word !== '');
  if (consistsOf(words, ASSENTS)) return 'yes';
  return consistsOf(words, DENIALS) ? 'no' : words.join(' ');
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

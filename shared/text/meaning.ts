import { jaccard, trigramsOf } from './similarity.ts';
import { normalForm } from './words.ts';

/** A text as it is compared: compatibility forms, case, white space and punctuation at its ends do not count. */
export function normalized(text: string): string {
  const signs = [...normalForm(text, 'NFKC').toLowerCase().replaceAll(/\s+/gu, ' ')];
  // A pattern with `+$` would take quadratic time in a run of punctuation.
  const from = signs.findIndex((sign) => !EDGE.test(sign));
  const to = signs.findLastIndex((sign) => !EDGE.test(sign));
  return signs.slice(Math.max(0, from), to + 1).join('');
}

const EDGE = /[\s\p{P}]/u;

/** The similarity from which on two replies count as the same. */
const SAME = 0.9;

/** Reports whether two replies say the same: equal when normalized, or nearly so. */
export function saysTheSame(a: string, b: string): boolean {
  return new Saying(a).isSameAs(new Saying(b));
}

/** A reply as it is compared. It is read once, however many it is compared with. */
export class Saying {
  readonly #text: string;
  readonly #trigrams: ReadonlySet<string>;

  constructor(reply: string) {
    this.#text = normalized(reply);
    this.#trigrams = trigramsOf([this.#text]);
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  isSameAs(other: Saying): boolean {
    return this.#text === other.#text || jaccard(this.#trigrams, other.#trigrams) >= SAME;
  }
}

const listed = (phrases: string) => new Set(phrases.split('|').map((one) => one.trim()));

/** Ways to say yes, and no, normalized. */
const ASSENTS = listed(
  `yes|y|yep|yeah|yup|ok|okay|sure|sure thing|go|go ahead|go on|go for it|proceed|do it|do that|please do|continue|sounds good|
  looks good|lgtm|fine|agreed|approved|of course|absolutely|right|correct|k|ja|klar|gerne|oui|daccord|si|sí|sim|да|так|давай|ок|
  tak|ano|igen|kyllä|joo|evet|tamam|ναι|כן|نعم|हाँ|जी|có|vâng|ya|iya|ใช่|是|是的|好|好的|可以|同意|行|はい|うん|お願いします|네|예|응`,
);
const DENIALS = listed(
  'no|n|nope|nah|nein|non|não|nao|nie|ne|nee|nej|nei|ei|hayır|hayir|нет|ні|όχι|לא|لا|नहीं|không|tidak|ไม่|不|不要|不用|いいえ|아니요|아니',
);
const POLITE = listed(
  'please|thanks|thank you|bitte|danke|merci|por favor|gracias|grazie|пожалуйста|спасибо|proszę|谢谢',
);
const WORDS_OF_A_PHRASE = 3;

/**
 * The meaning of a reply, as a text that equal meanings share: its own words, but all ways to say yes are one, and all ways
 * to say no.
 */
export function meaningOf(reply: string): string {
  const text = normalized(reply).replaceAll(/\p{P}+/gu, '');
  if (text === '') return text;
  const words = text.split(' ').filter((word) => word !== '');
  if (isMadeOf(words, ASSENTS)) return 'yes';
  return isMadeOf(words, DENIALS) ? 'no' : words.join(' ');
}

/** True for words that are some of the phrases one after another, and politeness. */
function isMadeOf(words: readonly string[], phrases: ReadonlySet<string>): boolean {
  let said = false;
  for (let at = 0; at < words.length; ) {
    const length = [WORDS_OF_A_PHRASE, 2, 1].find((count) => {
      const phrase = words.slice(at, at + count).join(' ');
      return at + count <= words.length && (phrases.has(phrase) || POLITE.has(phrase));
    });
    if (length === undefined) return false;
    said ||= phrases.has(words.slice(at, at + length).join(' '));
    at += length;
  }
  return said;
}

const QUESTION_MAX = 500;

/** Reports whether a prompt ends with a question for an approval or a choice, as far as its words show it. */
export function isClosed(prompt: string): boolean {
  const end = prompt.trimEnd().slice(-QUESTION_MAX);
  const question = /[^.!?\n]*\?$/u.exec(end)?.[0].trim().toLowerCase() ?? '';
  return /^(?:\W*)(?:shall|should|may|can|could|do|does|did|is|are|will|would|ok|okay|ready|proceed|continue|soll|darf|kann)\b/u.test(
    question,
  );
}

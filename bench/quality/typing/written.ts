import type { RecalledPhrase } from '../../../shared/domain/context-envelope.ts';
import { hashOf, type Phrase, phrasesOf } from '../../../shared/text/phrases.ts';

/** Maximum number of phrases that the product recalls for one tail of a draft. Of more, it takes a sample. */
const RECALLED_MAX = 48;
/** Approximate size of the sample. */
const SAMPLE_SIZE = 24;
/** Number of messages assumed per day, since the times of a history's messages are unknown. */
const MESSAGES_A_DAY = 10;

/** A person's words, as the table `phrases` holds them, for measurements without a database. */
export class WrittenPhrases {
  readonly #phrases: (Phrase & { message: number; occasion: number })[] = [];
  #messages = 0;
  #isSorted = true;

  add(text: string, session: string): void {
    const occasion = hashOf(session);
    for (const phrase of phrasesOf(text))
      this.#phrases.push({ ...phrase, message: this.#messages, occasion });
    this.#messages += 1;
    this.#isSorted = false;
  }

  recall(tails: readonly string[]): RecalledPhrase[] {
    if (!this.#isSorted) this.#phrases.sort((a, b) => (a.words < b.words ? -1 : 1));
    this.#isSorted = true;
    return tails.flatMap((tail, words) => {
      const found = tail === '' || tail === '\n' ? [] : this.#startingWith(tail);
      const scale = found.length > RECALLED_MAX ? found.length / SAMPLE_SIZE : 1;
      const sample = scale === 1 ? found : found.filter((_, place) => place % Math.floor(scale) === 0);
      return sample.map((phrase) => ({
        following: (phrase.written ?? phrase.words).slice(tail.length),
        words,
        scale,
        days: (this.#messages - phrase.message) / MESSAGES_A_DAY,
        source: `message ${phrase.message}`,
        line: phrase.line,
        occasion: phrase.occasion,
      }));
    });
  }

  #startingWith(tail: string) {
    let low = 0;
    let high = this.#phrases.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#phrases[middle]?.words ?? '') < tail) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (this.#phrases[end]?.words.startsWith(tail)) end += 1;
    return this.#phrases.slice(low, end);
  }
}

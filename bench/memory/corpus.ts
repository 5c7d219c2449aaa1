import { seededRandom } from './random.ts';

/** Generates the texts of a person's history. Equal seeds generate equal texts. */
export class Corpus {
  readonly #random: () => number;
  readonly #words: string[];
  readonly #names: string[];

  constructor(seed: number) {
    this.#random = seededRandom(seed).next;
    this.#words = [...COMMON, ...this.#coinWords(3000, 2)];
    this.#names = this.#coinWords(NAMES, 3).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  }

  /** Generates a sentence that names an attribute and mostly a thing, but answers no question. */
  sentence(words = 8 + this.#below(12)): string {
    const sentence = Array.from({ length: words }, () => this.#word());
    sentence[this.#below(words)] = this.#name();
    sentence[this.#below(words)] = this.#attribute();
    return sentence.join(' ');
  }

  /** Generates a question and the only text that answers it: both name the same thing and attribute. */
  pair(wording: keyof typeof QUESTION_WORDINGS): { question: string; source: string } {
    const name = this.#name();
    const attribute = this.#attribute();
    const filler = () => Array.from({ length: 3 }, () => this.#word()).join(' ');
    return {
      question: QUESTION_WORDINGS[wording](name, attribute),
      source: `${filler()} ${name} ${filler()} ${attribute} is ${this.#coinWords(1, 4)[0]} ${filler()}`,
    };
  }

  /** Returns the items in random order (Fisher and Yates). */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const mixed = [...items];
    for (let at = mixed.length - 1; at > 0; at -= 1) {
      const other = this.#below(at + 1);
      [mixed[at], mixed[other]] = [mixed[other] as Item, mixed[at] as Item];
    }
    return mixed;
  }

  #word(): string {
    // Zipf: the n-th word is about n times rarer than the first.
    return this.#words[Math.floor(this.#words.length ** this.#random()) - 1] ?? '';
  }

  #name(): string {
    return this.#names[this.#below(NAMES)] ?? '';
  }

  #attribute(): string {
    return ATTRIBUTES[this.#below(ATTRIBUTES.length)] ?? '';
  }

  #coinWords(count: number, syllables: number): string[] {
    return Array.from({ length: count }, () =>
      Array.from({ length: syllables }, () => SYLLABLES[this.#below(SYLLABLES.length)]).join(''),
    );
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** Wordings of a question: with the words of its answer, or with one of these words changed. */
export const QUESTION_WORDINGS = {
  'the same words': (name: string, attribute: string) => question(name, attribute),
  'an inflected attribute': (name: string, attribute: string) => question(name, `${attribute}s`),
  'an unfinished name': (name: string, attribute: string) => question(name.slice(0, -2), attribute),
  /** Drops the fourth letter. */
  'a misspelled name': (name: string, attribute: string) =>
    question(name.slice(0, 3) + name.slice(4), attribute),
};

const question = (name: string, attribute: string) =>
  `what is the ${attribute} of ${name} that we should use now`;

const NAMES = 1000;
const COMMON =
  'the to and is a of in it that we for on you this be with as have not are at from use or can was should if now do'.split(
    ' ',
  );
const ATTRIBUTES =
  `port branch owner budget deadline password region schema ticket vendor colour format language timezone manager
   license bucket cluster queue token endpoint folder invoice contract address currency layout font hostname runtime
   framework database mirror domain channel reviewer backup threshold retention interval`.split(/\s+/);
const SYLLABLES =
  'ka lo mi ren sta tor vel qui zan bru del fo gri hal jun kes lim nor pas rud sil tem ulf ver wim yor'.split(
    ' ',
  );

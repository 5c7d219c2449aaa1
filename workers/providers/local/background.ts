import { readdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { PredictionTask } from '../../../shared/domain/context-envelope.ts';
import { lowerCaseInPlace } from '../../../shared/text/phrases.ts';
import { wordsOf } from '../../../shared/text/words.ts';

/**
 * What many people write: word sequences of one to three words, by language. `npm run bench quality background` makes
 * the files, and docs/providers.md says of what.
 */
export class Background {
  readonly language: string;
  readonly #followers: ReadonlyMap<string, readonly Follower[]>;
  readonly #words: ReadonlySet<string>;

  constructor(language: string, list: string) {
    this.language = language;
    this.#followers = new Map(list.trimEnd().split('\n').map(parseLine));
    this.#words = new Set(this.#followers.get('')?.map(({ word }) => word));
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }

  /** Returns the words with a beginning that follow a context of up to two words, `^` being the beginning of a line. */
  after(context: readonly string[], beginning: string): readonly Follower[] {
    const followers = this.#followers.get(context.join(' ')) ?? [];
    if (beginning === '') return followers;
    let low = 0;
    let high = followers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((followers[middle]?.word ?? '') < beginning) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (followers[end]?.word.startsWith(beginning)) end += 1;
    return followers.slice(low, end);
  }
}

interface Follower {
  /** In lower case, for comparison. */
  word: string;
  written: string;
  count: number;
}

/** Sorts the followers by word. */
function parseLine(line: string): [string, Follower[]] {
  const [context = '', ...followers] = line.split('|');
  const parsed = followers.map((follower) => {
    const written = follower.slice(0, follower.lastIndexOf(' '));
    return { word: lowerCaseInPlace(written), written, count: Number(follower.slice(written.length + 1)) };
  });
  return [context, parsed.sort((a, b) => (a.word < b.word ? -1 : 1))];
}

const FOLDER = new URL('./background/', import.meta.url);
const BACKGROUNDS = readdirSync(FOLDER).map(
  (file) =>
    new Background(file.slice(0, 2), brotliDecompressSync(readFileSync(new URL(file, FOLDER))).toString()),
);

/** Length of the texts that tell the language, in UTF-16 units. */
const LANGUAGE_CHARS = 400;
/** Words for which a stated language counts. */
const STATED_WORDS = 2;
/** Share of the words that a list must know. */
const KNOWN_SHARE_MIN = 0.5;

/** Returns the lists of the language that a person writes; several if the words do not tell. */
export function backgroundsFor({ draftHead, draft, messages, language }: PredictionTask): Background[] {
  const last = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const whole = (draftHead + draft).slice(-LANGUAGE_CHARS).replace(/[^\s]+$/, '');
  const words = wordsOf(whole);
  if (words.length < 3) words.push(...wordsOf(last.slice(-LANGUAGE_CHARS)));
  return listsOf(words, language);
}

/** Returns the language of the end of a text, if the lists tell one. */
export const languageOf = (text: string): string | undefined =>
  listsOf(wordsOf(text.slice(-LANGUAGE_CHARS)))[0]?.language;

function listsOf(words: readonly string[], stated = ''): Background[] {
  const scores = BACKGROUNDS.map((list) => {
    const bonus = stated.slice(0, 2).toLowerCase() === list.language ? STATED_WORDS : 0;
    return words.filter((word) => list.has(word)).length + bonus;
  });
  const best = Math.max(...scores);
  if (best < KNOWN_SHARE_MIN * words.length) return [];
  return BACKGROUNDS.filter((_, place) => scores[place] === best);
}

/** The end of a line: its whole words in lower case, and the word that is begun, if any. */
export interface LineEnd {
  /** As `DraftEnd.run`. */
  words: readonly string[] | null;
  begun: string;
  /** True if a space must come before the next word. */
  needsSpace: boolean;
  /** How a list must write the begun word, by the case of what was typed of it; null if the case does not tell. */
  form: RegExp | null;
}

const CONTEXT_WORDS = 2;
/** A beginning so long, with a capital, is rather a word of a title than a name; in German, a noun. */
const TITLE_CHARS = 4;

/** A word that many people write next. */
export interface CommonWord {
  /** Share of those who wrote such a beginning; a longer context counts more if it is frequent. */
  probability: number;
  /** Number of words in the longest context that has it. */
  depth: number;
  /** Share of the word in the longest context that is known. */
  share: number;
}

/** Returns the words that many people write next, by what follows the draft: '' for a word that no list has. */
export function commonWords(
  backgrounds: readonly Background[],
  { words, begun, needsSpace, form }: LineEnd,
): Map<string, CommonWord> {
  const common = new Map<string, CommonWord>();
  if (words === null) return common;
  for (let depth = begun === '' ? 1 : 0; depth <= Math.min(CONTEXT_WORDS, words.length); depth += 1) {
    const context = words.slice(words.length - depth);
    const found = backgrounds.flatMap((list) => followersOf(list, context, begun, { needsSpace, form }));
    const total = totalOf(found);
    if (total === 0) break;
    // Interpolates the shares of each context (Witten and Bell 1991).
    const doubt = depth === 0 ? 0 : found.length;
    for (const word of common.values()) {
      word.probability *= doubt / (total + doubt);
      word.share = 0;
    }
    for (const { following, count } of found) {
      const word = common.get(following) ?? { probability: 0, depth, share: 0 };
      word.probability += count / (total + doubt);
      word.depth = depth;
      word.share += count / total;
      common.set(following, word);
    }
  }
  return common;
}

const totalOf = (followers: readonly { count: number }[]): number =>
  followers.reduce((sum, { count }) => sum + count, 0);

/** Returns the likeliest of the `commonWords` after whole words, without making the hundreds of others. */
export function commonestWord(
  list: Background,
  words: readonly string[],
): (CommonWord & { written: string }) | undefined {
  const afterOne = list.after(words.slice(-1), '');
  const afterTwo = words.length < CONTEXT_WORDS ? [] : list.after(words.slice(-CONTEXT_WORDS), '');
  const [first] = afterOne;
  if (words.length === 0 || first === undefined) return undefined;
  const total = totalOf(afterOne);
  const totalOfTwo = totalOf(afterTwo);
  const most = afterOne.reduce((best, follower) => (follower.count > best.count ? follower : best), first);
  const doubt = afterTwo.length;
  const shareOf = (count: number) =>
    (count * (doubt || 1)) / (total + afterOne.length) / (totalOfTwo + doubt || 1);
  let best = {
    written: most.written,
    probability: shareOf(most.count),
    depth: 1,
    share: doubt === 0 ? most.count / total : 0,
  };
  for (const { word, written, count } of afterTwo) {
    const [known] = list.after(words.slice(-1), word);
    const shorter = known?.word === word ? shareOf(known.count) : 0;
    const probability = shorter + count / (totalOfTwo + doubt);
    if (probability > best.probability) best = { written, probability, depth: 2, share: count / totalOfTwo };
  }
  return best;
}

function followersOf(
  list: Background,
  context: readonly string[],
  begun: string,
  { needsSpace, form }: Pick<LineEnd, 'needsSpace' | 'form'>,
) {
  const space = needsSpace ? ' ' : '';
  const found = list.after(context, begun);
  if (begun === '') return found.map(({ written, count }) => ({ following: space + written, count }));
  const isStrict = begun.length < TITLE_CHARS || list.language === 'de';
  return found.flatMap(({ word, written, count }) => {
    // The word is another one, which the list may not have.
    if (isStrict && form?.test(written) === false) return [{ following: '', count }];
    if (word.length > begun.length) return [{ following: written.slice(begun.length), count }];
    const next = context.length < CONTEXT_WORDS ? list.after([...context, begun], '') : [];
    return [
      ...next.map((follower) => ({ following: ` ${follower.written}`, count: follower.count })),
      { following: '', count: Math.max(0, count - totalOf(next)) },
    ];
  });
}

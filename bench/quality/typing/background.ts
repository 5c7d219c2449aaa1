import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { LINE_START, recallableLinesOf, wordRunsOf } from '../../../shared/text/phrases.ts';
import { looksTyped, readHistories } from './histories.ts';

/**
 * Makes the word sequences of a language that the built-in predictor knows, of what several people typed and of phrases
 * written by hand. FOLDER has a folder of chats per person, as SpecStory saves them; `--lines` is a text with the
 * messages of people of whom nothing else is known, a line each, who count as one person.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    phrases: { type: 'string' },
    /** A list to which the phrases are added. */
    list: { type: 'string' },
    lines: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
    /** How many people must have typed a sequence. */
    people: { type: 'string', default: '3' },
    /** The most messages of one person. */
    messages: { type: 'string', default: '600' },
    /** Size of the file. */
    bytes: { type: 'string', default: '100000' },
  },
});

/** A phrase by hand counts as if it had been typed so often. */
const PHRASE_COUNT = 3;
const SEQUENCE_WORDS = 3;
/** Share of the occurrences within a line that are capitalised, from which on a word is a name. */
const NAME_SHARE = 0.4;
/** Words of one letter, numbers and what people call their own. */
const WORD = /^\p{L}[\p{L}']*$/u;
const SHORT_WORDS = new Set(['a', 'i', 'y', 'o', 'e', 'à']);

interface Counted {
  people: number;
  count: number;
  /** Count of the person who typed it most often. */
  most: number;
}

const UNTYPED: Counted = { people: 0, count: 0, most: 0 };
const counted = new Map<string, Counted>();
const written = new Map<string, string>();

async function run(): Promise<void> {
  const histories = positionals[0] === undefined ? [] : await readHistories(positionals[0]);
  const people = histories.map(({ messages }) =>
    messages
      .filter(looksTyped)
      .slice(-Number(values.messages))
      .map(({ text }) => text),
  );
  for (const file of values.lines) people.push((await readFile(file, 'utf8')).split('\n'));
  const names = namesIn(people.flat());
  for (const texts of people) count(texts, names);
  for (const [sequence, { people: by, count: all, most }] of counted)
    if (by < Number(values.people)) counted.delete(sequence);
    // Repetitions of one person count no more than what all others typed.
    else counted.set(sequence, { people: by, count: all - most + Math.min(most, all - most), most });
  if (values.list !== undefined) addList(await readFile(values.list, 'utf8'));
  if (values.phrases !== undefined) addPhrases(await readFile(values.phrases, 'utf8'));
  const list = listOf(Number(values.bytes));
  if (values.out === undefined) console.log(list);
  else await writeFile(values.out, list);
  console.error(`${people.length} people, ${counted.size} sequences, ${Buffer.byteLength(list)} bytes`);
}

/** Words that are mostly capitalised where no sentence begins, in lower case. */
function namesIn(texts: readonly string[]): Set<string> {
  const seen = new Map<string, { all: number; capitals: number }>();
  for (const text of texts)
    for (const [word] of text.matchAll(/(?<=[\p{Ll},] )\p{L}[\p{L}'’]*/gu)) {
      const key = word.toLowerCase();
      const { all, capitals } = seen.get(key) ?? { all: 0, capitals: 0 };
      seen.set(key, { all: all + 1, capitals: capitals + Number(/\p{Lu}/u.test(word)) });
    }
  return new Set(
    [...seen]
      .filter(([word, { all, capitals }]) => capitals > NAME_SHARE * all && !/^i(?:'|$)/.test(word))
      .map(([word]) => word),
  );
}

function count(texts: readonly string[], names: ReadonlySet<string>): void {
  const own = new Map<string, number>();
  for (const sequence of texts.flatMap((text) => sequencesOf(text, names)))
    own.set(sequence, (own.get(sequence) ?? 0) + 1);
  for (const [sequence, times] of own) {
    const { people, count: before, most } = counted.get(sequence) ?? UNTYPED;
    counted.set(sequence, { people: people + 1, count: before + times, most: Math.max(most, times) });
  }
}

function sequencesOf(text: string, names: ReadonlySet<string>): string[] {
  const isKnown = (word: string) =>
    word === LINE_START ||
    (WORD.test(word) && (word.length > 1 || SHORT_WORDS.has(word)) && !names.has(word));
  return wordRunsOf(recallableLinesOf(text).trim()).flatMap((words) =>
    words.flatMap((_, at) =>
      Array.from({ length: Math.min(SEQUENCE_WORDS, at + 1) }, (__, more) => words.slice(at - more, at + 1))
        .filter((sequence) => sequence.at(-1) !== LINE_START && sequence.every(isKnown))
        .map((sequence) => sequence.join(' ')),
    ),
  );
}

function addList(list: string): void {
  for (const line of list.trimEnd().split('\n')) {
    const [context = '', ...followers] = line.split('|');
    for (const follower of followers) {
      const form = follower.slice(0, follower.lastIndexOf(' '));
      const word = form.toLowerCase();
      if (form !== word) written.set(word, form);
      const times = Number(follower.slice(form.length + 1));
      counted.set(`${context} ${word}`.trimStart(), { ...UNTYPED, count: times });
    }
  }
}

/** Words of a phrase are written as in it, except that its first is in lower case, unless it begins with two spaces. */
function addPhrases(phrases: string): void {
  for (const phrase of phrases.split('\n')) {
    for (const [word] of phrase.slice(1).matchAll(/(?<=[ ])\p{Lu}[\p{L}']*/gu))
      written.set(word.toLowerCase(), word);
    for (const sequence of sequencesOf(phrase, new Set())) {
      const before = counted.get(sequence) ?? UNTYPED;
      counted.set(sequence, { ...before, count: before.count + PHRASE_COUNT });
    }
  }
}

/** Takes the most frequent sequences whose contexts are in the list too. */
function listOf(bytesMax: number): string {
  const contexts = new Map<string, [string, number][]>();
  let bytes = 0;
  for (const [sequence, { count: times }] of [...counted].sort(([, a], [, b]) => b.count - a.count)) {
    const at = sequence.lastIndexOf(' ');
    const context = sequence.slice(0, Math.max(0, at));
    const word = sequence.slice(at + 1);
    const followers = contexts.get(context) ?? [];
    bytes += Buffer.byteLength(`|${word} ${times}`) + (followers.length === 0 ? context.length + 1 : 0);
    if (bytes > bytesMax) break;
    contexts.set(context, [...followers, [word, times]]);
  }
  const lines = [...contexts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([context, followers]) =>
      [context, ...followers.map(([word, times]) => `${formOf(word)} ${times}`)].join('|'),
    );
  return `${lines.join('\n')}\n`;
}

function formOf(word: string): string {
  return /^i(?:'|$)/.test(word) && values.out?.includes('en')
    ? word.replace('i', 'I')
    : (written.get(word) ?? word);
}

await run();

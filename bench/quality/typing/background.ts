import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { LINE_START, recallableLinesOf, wordRunsOf } from '../../../shared/text/phrases.ts';
import { looksTyped, readAgentMessages, readHistories } from './histories.ts';

/**
 * Makes the word sequences of a language that the built-in predictor knows: of what several people typed and agents
 * answered them, of sentences by many people, and of phrases written by hand. FOLDER has a folder of chats per person, as
 * SpecStory saves them; `--lines` is a text with the messages of people of whom nothing else is known, a line each, who
 * count as one person; `--sentences` is one with sentences that are a person's each.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    phrases: { type: 'string', multiple: true, default: [] },
    lines: { type: 'string', multiple: true, default: [] },
    sentences: { type: 'string', multiple: true, default: [] },
    /** Sentences whose names are no words of the list: English ones for German, which capitalises all nouns. */
    names: { type: 'string' },
    /** Further words that are no words of the list, separated by commas. */
    without: { type: 'string', default: '' },
    out: { type: 'string', default: 'list.txt.br' },
    /** Size of the list before it is compressed. */
    bytes: { type: 'string', default: '103000' },
  },
});

/** How many people must have typed a sequence, or got it from agents. */
const PEOPLE_MIN = 3;
const ANSWERED_MIN = 4;
/** How often a sequence must be in sentences. */
const SENTENCES_MIN = 6;
/** The most messages of one person, and of the agents that answer one person. */
const MESSAGES_MAX = 600;
const ANSWERS_MAX = 1500;
/** How much an occurrence counts. */
const TYPED_WEIGHT = 2;
const PHRASE_WEIGHT = 3;
const ANSWER_WEIGHT = 0.05;
const SENTENCE_WEIGHT = 0.03;
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
const weights = new Map<string, number>();
const written = new Map<string, string>();

async function run(): Promise<void> {
  const [folder] = positionals;
  if (folder !== undefined) {
    const histories = await readHistories(folder);
    const people = histories.map(({ messages }) =>
      messages
        .filter(looksTyped)
        .slice(-MESSAGES_MAX)
        .map(({ text }) => text),
    );
    for (const file of values.lines) people.push(await readLines(file));
    addTexts(people, PEOPLE_MIN, TYPED_WEIGHT);
    const agents = await readAgentMessages(folder);
    addTexts(
      agents.map(({ messages }) => messages.slice(-ANSWERS_MAX).map((text) => text.replace(CODE, '\n'))),
      ANSWERED_MIN,
      ANSWER_WEIGHT,
    );
  }
  for (const file of values.sentences) await addSentences(await readLines(file));
  for (const file of values.phrases) addPhrases(await readFile(file, 'utf8'));
  const list = listOf(Number(values.bytes));
  const compressed = brotliCompressSync(list);
  await writeFile(values.out, compressed);
  console.log(`${weights.size} sequences, ${Buffer.byteLength(list)} bytes, ${compressed.length} compressed`);
}

const CODE = /```[\s\S]*?```|`[^`\n]*`/g;

const readLines = async (file: string) => (await readFile(file, 'utf8')).split('\n');

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

/** Adds the sequences that several have, of the texts of each. */
function addTexts(groups: readonly string[][], groupsMin: number, weight: number): void {
  const names = namesIn(groups.flat());
  const counted = new Map<string, Counted>();
  for (const texts of groups)
    for (const [sequence, times] of countIn(texts, names)) {
      const { people, count, most } = counted.get(sequence) ?? UNTYPED;
      counted.set(sequence, { people: people + 1, count: count + times, most: Math.max(most, times) });
    }
  // Repetitions of one person count no more than what all others typed.
  for (const [sequence, { people, count, most }] of counted)
    if (people >= groupsMin) add(sequence, weight * (count - most + Math.min(most, count - most)));
}

async function addSentences(sentences: readonly string[]): Promise<void> {
  const capitalised = namesIn(sentences);
  const names = values.names === undefined ? capitalised : namesIn(await readLines(values.names));
  for (const word of values.without.split(',')) names.add(word);
  for (const word of capitalised.difference(names))
    written.set(word, (word[0] ?? '').toUpperCase() + word.slice(1));
  for (const [sequence, times] of countIn(sentences, names))
    if (times >= SENTENCES_MIN) add(sequence, SENTENCE_WEIGHT * times);
}

function countIn(texts: readonly string[], names: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const sequence of texts.flatMap((text) => sequencesOf(text, names)))
    counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
  return counts;
}

const add = (sequence: string, weight: number) =>
  weights.set(sequence, (weights.get(sequence) ?? 0) + weight);

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

/** Words of a phrase are written as in it, except that its first is in lower case, unless it begins with two spaces. */
function addPhrases(phrases: string): void {
  for (const phrase of phrases.split('\n')) {
    for (const [word] of phrase.slice(1).matchAll(/(?<=[ ])\p{Lu}[\p{L}']*/gu))
      written.set(word.toLowerCase(), word);
    for (const sequence of sequencesOf(phrase, new Set())) add(sequence, PHRASE_WEIGHT);
  }
}

/** Takes the most frequent sequences whose contexts are in the list too. */
function listOf(bytesMax: number): string {
  const contexts = new Map<string, [string, number][]>();
  let bytes = 0;
  for (const [sequence, weight] of [...weights].sort(([, a], [, b]) => b - a)) {
    const times = Math.round(weight);
    if (times === 0) break;
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
  return /^i(?:'|$)/.test(word) && values.out.includes('en')
    ? word.replace('i', 'I')
    : (written.get(word) ?? word);
}

await run();

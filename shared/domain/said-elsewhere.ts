import { lowerCaseInPlace, nextWord } from '../text/phrases.ts';
import type { RecalledPhrase } from './context-envelope.ts';

/** What a person says in so many projects counts in any other. */
const PROJECTS_MIN = 3;

/** `project` is that of the text in which the phrase was found; null if it is unknown. */
export type PlacedPhrase = RecalledPhrase & { project: string | null };

/**
 * Keeps the phrases of a project, and those of no known one. Of another project's phrase, keeps the first words that
 * follow the same words in at least three projects. `begun`: phrases begin with the rest of an unfinished word.
 */
export function phrasesIn(
  project: string,
  phrases: readonly PlacedPhrase[],
  { begun }: { begun: boolean },
): RecalledPhrase[] {
  const projects = new Map<string, Set<string>>();
  for (const { following, words, project: ofPhrase } of phrases)
    for (const beginning of ofPhrase === null ? [] : beginningsOf(following, begun)) {
      const key = keyOf(words, beginning);
      projects.set(key, (projects.get(key) ?? new Set()).add(ofPhrase ?? ''));
    }
  return phrases.flatMap(({ project: ofPhrase, ...phrase }) => {
    if (ofPhrase === null || ofPhrase === project) return [phrase];
    const general = beginningsOf(phrase.following, begun).findLast(
      (beginning) => (projects.get(keyOf(phrase.words, beginning))?.size ?? 0) >= PROJECTS_MIN,
    );
    // The space shows that the last word is whole.
    return general === undefined ? [] : [{ ...phrase, following: `${general} `, isCut: true }];
  });
}

const keyOf = (words: number, beginning: string) => `${words}${lowerCaseInPlace(beginning)}`;

/** Returns the first word of a text, its first two words, and so on. */
function beginningsOf(following: string, begun: boolean): string[] {
  const beginnings: string[] = [];
  for (let at = 0; ; ) {
    const word = nextWord(following.slice(at), begun && at === 0);
    if (word === '') return beginnings;
    at += word.length;
    beginnings.push(following.slice(0, at));
  }
}

/** A reply of the person, or their decision on a predicted one. */
interface Said {
  prompt: string;
  reply: string;
  project: string | null;
}

/**
 * Keeps what a person said in a project or in no known one, and what they said to the same prompt in at least three
 * projects.
 */
export function saidIn<One extends Said>(project: string | undefined, all: readonly One[]): readonly One[] {
  if (project === undefined) return all;
  const keyOfSaid = ({ prompt, reply }: Said) =>
    JSON.stringify([prompt.trim(), reply.trim()].map(lowerCaseInPlace));
  const projects = Map.groupBy(all, keyOfSaid);
  const isGeneral = (one: One) =>
    new Set(projects.get(keyOfSaid(one))?.flatMap((other) => other.project ?? [])).size >= PROJECTS_MIN;
  return all.filter((one) => one.project === null || one.project === project || isGeneral(one));
}

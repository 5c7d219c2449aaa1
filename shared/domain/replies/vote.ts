import { meaningOf } from '../../text/meaning.ts';
import { countsOf, wordsOf } from '../../text/words.ts';
import { isDictation } from './dictation.ts';
import { questionIn } from './question.ts';

/** An agent's prompt and the person's own reply. `prompt` may contain only the end of a long prompt. */
export interface PromptReply {
  /** Id of the raw row with the reply. */
  id: string;
  /** Id of the raw row with the prompt. */
  promptId: string;
  prompt: string;
  reply: string;
  /** Day of the reply, in UTC. */
  on: string;
  /** When it was said, in milliseconds since 1970. */
  at: number;
}

export interface VoteResult {
  /**
   * The likeliest first. `share` is the reply's part of the vote. `times` counts how often the person has given the
   * reply.
   */
  replies: { response: string; share: number; times: number }[];
  /** Returns the share of the vote, from 0 to 1, of the replies with the same meaning as `response`. */
  shareOf(response: string): number;
  /**
   * The most similar prompts with their replies, the nearest first. Pairs that dictate a reply are included, but have
   * no vote.
   */
  neighbours: PromptReply[];
}

/** Maximum number of the prompt's words that are compared: the rarest ones. */
const TERMS_MAX = 12;
/** Maximum number of earlier prompts that vote. */
const NEIGHBOURS_MAX = 15;
/** Minimum similarity of an earlier prompt that votes, as a share of the new prompt's similarity to itself. */
const SIMILARITY_MIN = 0.2;
/** Weight of the vote for a reply that the person has never given. */
const NOVELTY_WEIGHT = 1;
/** Parameters of Okapi BM25 (Robertson and Zaragoza 2009). */
const [K1, B] = [1.2, 0.75];

/**
 * Returns a function that lets the most similar earlier prompts vote for their replies. One more vote, of weight
 * `NOVELTY_WEIGHT`, goes to an unknown reply, so that no share reaches 1.
 */
export function createVoter(pairs: readonly PromptReply[]): (prompt: string) => VoteResult {
  const questions = pairs.map((pair) => questionIn(pair.prompt));
  const documents = questions.map(({ compared }) => countWords(compared));
  const classes = new Map(pairs.map((pair, at) => [pair, meaningOf(pair.reply, questions[at]?.question)]));
  const isDictated = rememberResults(
    ({ prompt, reply }: PromptReply) => isDictation(prompt) || isDictation(reply),
  );
  return (prompt) => {
    const { question, compared } = questionIn(prompt);
    const nearest = neighboursOf(compared, pairs, documents);
    return voteAmong(nearest, { classes, isDictated, meaningIn: (reply) => meaningOf(reply, question) });
  };
}

/** The prompts of a batch have neighbours in common, and the search for dictation is slow. */
function rememberResults<Key>(check: (key: Key) => boolean): (key: Key) => boolean {
  const results = new Map<Key, boolean>();
  return (key) => {
    const result = results.get(key) ?? check(key);
    results.set(key, result);
    return result;
  };
}

interface VoteRules {
  /** Meanings of the replies to their own prompts. */
  classes: ReadonlyMap<PromptReply, string>;
  isDictated(pair: PromptReply): boolean;
  /** Returns the meaning of a reply to the new prompt. */
  meaningIn(reply: string): string;
}

function voteAmong(
  nearest: { pair: PromptReply; weight: number }[],
  { classes, isDictated, meaningIn }: VoteRules,
): VoteResult {
  const neighbours = nearest.filter(({ pair }) => !isDictated(pair));
  const total = neighbours.reduce((sum, { weight }) => sum + weight, NOVELTY_WEIGHT);
  const times = Map.groupBy(classes.values(), (one) => one);
  const byReply = Map.groupBy(neighbours, ({ pair }) => classes.get(pair) ?? '');
  const shares = new Map(
    [...byReply].map(([reply, votes]) => [reply, votes.reduce((s, { weight }) => s + weight, 0) / total]),
  );
  const replies = [...byReply].map(([reply, votes]) => ({
    response: fittingWording(votes, (wording) => meaningIn(wording) === reply),
    share: shares.get(reply) ?? 0,
    times: times.get(reply)?.length ?? 0,
  }));
  replies.sort((a, b) => b.share - a.share || (a.response < b.response ? -1 : 1));
  return {
    replies,
    shareOf: (response) => shares.get(meaningIn(response)) ?? 0,
    neighbours: nearest.map(({ pair }) => pair),
  };
}

/** Prefers a wording that has the meaning for the new prompt too: "yes, run them" does not fit "Shall I push it?" */
function fittingWording(votes: readonly { pair: PromptReply }[], fits: (wording: string) => boolean): string {
  const wordings = votes.map(({ pair }) => pair.reply.trim());
  return mostCommon(wordings.filter(fits)) || mostCommon(wordings);
}

function mostCommon(wordings: string[]): string {
  const counted = [...Map.groupBy(wordings, (one) => one)];
  counted.sort((a, b) => b[1].length - a[1].length);
  return counted[0]?.[0] ?? '';
}

function neighboursOf(
  asked: string,
  pairs: readonly PromptReply[],
  documents: readonly WordCounts[],
): { pair: PromptReply; weight: number }[] {
  const promptWords = countWords(asked);
  const documentsWith = countsOf(documents.flatMap(({ counts }) => [...counts.keys()]));
  const rarity = (term: string) => {
    const n = documentsWith.get(term) ?? 0;
    return Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
  };
  const terms = [...promptWords.counts.keys()]
    .sort((a, b) => rarity(b) - rarity(a) || (a < b ? -1 : 1))
    .slice(0, TERMS_MAX);
  const meanLength = documents.reduce((sum, { length }) => sum + length, 1) / Math.max(1, documents.length);
  const score = ({ counts, length }: WordCounts) =>
    terms.reduce((sum, term) => {
      const times = counts.get(term) ?? 0;
      return sum + (rarity(term) * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / meanLength));
    }, 0);
  const ownScore = score(promptWords);
  const scoredPairs = pairs.map((pair, place) => {
    const document = documents[place];
    const likeness = document === undefined || ownScore === 0 ? 0 : Math.min(1, score(document) / ownScore);
    return { pair, likeness };
  });
  return scoredPairs
    .filter(({ likeness }) => likeness >= SIMILARITY_MIN)
    .sort((a, b) => b.likeness - a.likeness || (a.pair.id < b.pair.id ? 1 : -1))
    .slice(0, NEIGHBOURS_MAX)
    .map(({ pair, likeness }) => ({ pair, weight: likeness ** 2 }));
}

interface WordCounts {
  counts: Map<string, number>;
  length: number;
}

function countWords(text: string): WordCounts {
  const words = wordsOf(text);
  return { counts: countsOf(words), length: words.length };
}

import type { PredictionTask, RecalledPhrase } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import {
  type DraftEnd,
  isCutPhrase,
  isWordStart,
  lowerCaseInPlace,
  phraseLinesOf,
  recallableLinesOf,
} from '../../../shared/text/phrases.ts';

/** A place in a text where the draft's last words occur, and the text that follows them. */
export interface ContinuationEvidence {
  following: string;
  /** True if more text may follow, so that the last word of `following` may be half a word. */
  isCut: boolean;
  /** The place counts for contexts of at least `minWords` and at most `maxWords` of the draft's last words. */
  minWords: number;
  maxWords: number;
  weight: number;
  /** Identifies the text: the id of a raw row, or the index of another text. */
  source: string;
  /** True if the word that follows, or that the place is in, is capitalised within a sentence. */
  isName?: boolean;
  /** Where the person wrote it; undefined for a fact, which repeats what a row says, and null for a text of the request. */
  remembered: Pick<RecalledPhrase, 'line' | 'occasion'> | undefined | null;
}

/** Maximum total length of the searched texts, in UTF-16 units. It limits the time for a prediction. */
const SEARCHED_CHARS_MAX = 24_000;
const FOLLOWING_CHARS_MAX = 80;
const PLACES_MAX = 200;
/** The source of places in the text before the draft's last words. */
export const DRAFT_SOURCE = 'draft';
const PERSON_TEXT_WEIGHT = 2;
const OTHER_MESSAGE_WEIGHT = 0.2;
/** Weight of the latest message if the person did not write it, of the artifact and of the preferences. */
const CONTEXT_WEIGHT = 0.5;

/**
 * Minimum weight of a phrase, for each place that it stands for (`scale`). The weight of a new phrase is 1; the part
 * above the minimum halves every `HALF_LIFE_DAYS`.
 */
const OLD_PHRASE_WEIGHT = 0.3;
const HALF_LIFE_DAYS = 30;

/** Excludes accepted and edited predictions: the predictor must not learn from itself. */
export function isWrittenByPerson(message: Message): boolean {
  return message.role === 'user' && (message.origin === 'human' || message.origin === 'unknown');
}

export function evidenceFor(task: PredictionTask, end: DraftEnd): ContinuationEvidence[] {
  const evidence: ContinuationEvidence[] = (task.local?.phrases ?? []).map(
    ({ following, isCut, words, scale, days, source, ...remembered }) => ({
      ...cutFollowing(following, isCut || isCutPhrase((end.tails[words]?.length ?? 0) + following.length)),
      minWords: words,
      maxWords: words,
      weight: scale * (OLD_PHRASE_WEIGHT + (1 - OLD_PHRASE_WEIGHT) * 0.5 ** (days / HALF_LIFE_DAYS)),
      source,
      remembered,
    }),
  );
  const minWords = end.tails[0] === '' ? 1 : 0;
  const nearest = end.tails[minWords] ?? '';
  let left = SEARCHED_CHARS_MAX;
  for (const [place, { text, weight, isFact, isDraft }] of textsOf(task, nearest).entries()) {
    if (left <= 0) break;
    const searchedText = text.slice(-left);
    left -= searchedText.length;
    const lines = isFact ? recallableLinesOf(searchedText) : phraseLinesOf(searchedText);
    evidence.push(
      ...findContinuations(`\n${lines.trim()}\n`, end.tails, minWords, {
        weight,
        source: isDraft ? DRAFT_SOURCE : String(place),
        remembered: isFact ? undefined : null,
      }),
    );
  }
  return evidence;
}

/** Matches what may be half a character, or join two parts of a word, at the end of a cut text. */
const HALF_END = /(?:['’]|\u200d|[\ud800-\udbff])$/;

function cutFollowing(following: string, isCut: boolean): Pick<ContinuationEvidence, 'following' | 'isCut'> {
  return { following: isCut ? following.replace(HALF_END, '') : following, isCut };
}

interface WeightedText {
  text: string;
  weight: number;
  /** True for a fact, and for the profile's summary. */
  isFact?: boolean;
  isDraft?: boolean;
}

/**
 * Returns the texts of a task, the most relevant first. Leaves out episodes and raw rows, because they also contain
 * words of agents.
 */
function textsOf(
  { artifact, draft, draftHead, messages, preferences, memory }: PredictionTask,
  nearest: string,
): WeightedText[] {
  const conversation = messages
    .filter(({ origin }) => origin !== 'accepted_prediction')
    .map((message) => ({ text: message.content, weight: weightOf(message, message === messages.at(-1)) }));
  const surroundingTexts = [artifact?.summary, preferences].map((text) => ({
    text: text ?? '',
    weight: CONTEXT_WEIGHT,
  }));
  const memoryTexts = [
    ...(memory?.facts ?? []),
    ...(memory?.recalled.facts ?? []),
    memory?.profile?.summary ?? '',
  ].map((text) => ({
    text,
    weight: PERSON_TEXT_WEIGHT,
    isFact: true,
  }));
  const typedText = {
    text: (draftHead + draft).slice(0, -nearest.length),
    weight: PERSON_TEXT_WEIGHT,
    isDraft: true,
  };
  return [
    typedText,
    { text: artifact?.selection ?? '', weight: CONTEXT_WEIGHT },
    ...conversation.reverse(),
    ...surroundingTexts,
    ...memoryTexts,
  ];
}

function weightOf(message: Message, isLatest: boolean): number {
  if (isWrittenByPerson(message)) return PERSON_TEXT_WEIGHT;
  return isLatest ? CONTEXT_WEIGHT : OTHER_MESSAGE_WEIGHT;
}

/** Finds the places where the draft's end `tails[minWords]` occurs: see `DraftEnd`. */
function findContinuations(
  lines: string,
  tails: readonly string[],
  minWords: number,
  origin: Pick<ContinuationEvidence, 'weight' | 'source' | 'remembered'>,
): ContinuationEvidence[] {
  const lower = lowerCaseInPlace(lines);
  const nearest = tails[minWords] ?? '';
  const places: ContinuationEvidence[] = [];
  for (
    let at = lower.indexOf(nearest);
    at >= 0 && places.length < PLACES_MAX;
    at = lower.indexOf(nearest, at + 1)
  ) {
    if (!isWordStart(lines, at)) continue;
    const end = at + nearest.length;
    let maxWords = minWords;
    while (maxWords + 1 < tails.length && endsWith(lower, tails[maxWords + 1] ?? '', end)) maxWords += 1;
    const restOfLine = lines.slice(end, lines.indexOf('\n', end));
    const isCut = restOfLine.length > FOLLOWING_CHARS_MAX;
    const following = cutFollowing(restOfLine.slice(0, FOLLOWING_CHARS_MAX), isCut);
    const wordStart = minWords === 0 ? at : end;
    const isName = NAME.test(lines.slice(Math.max(0, wordStart - 2), wordStart + 2));
    places.push({ ...following, minWords, maxWords, isName, ...origin });
  }
  return places;
}

/** A capital that begins no sentence, after the two characters before a word, or before the space before it. */
const NAME = /^(?:[\p{L}\p{N},;] \p{Lu}|[\p{L}\p{N}]{2} \p{Lu})/u;

function endsWith(text: string, tail: string, end: number): boolean {
  return end >= tail.length && text.startsWith(tail, end - tail.length);
}

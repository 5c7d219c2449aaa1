import type { PredictionTask } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { type DraftEnd, isWordStart, lowerCaseInPlace, phraseLinesOf } from '../../../shared/text/phrases.ts';

/** A place in a text at which the preceding words match the end of the draft, and the text that follows. */
export interface ContinuationEvidence {
  /** Text that follows the place, up to the end of the line. */
  following: string;
  /** Minimum number of the draft's last words for which the place is evidence. */
  minWords: number;
  /**
   * Maximum number of the draft's last words for which the place is evidence: those that also stand before the place.
   */
  maxWords: number;
  weight: number;
  /** Id of the text of the place: the id of a recalled phrase's raw row, or the number of any other text. */
  source: string;
  /** True if the text is from memory. */
  remembered: boolean;
}

/** Maximum total length of the texts that are read, in UTF-16 units. It limits the time for a prediction. */
const READ_MAX = 24_000;
/** Maximum length of the text that follows a place, in UTF-16 units. */
const FOLLOWING_MAX = 80;
/** Maximum number of places in one text. More places would hardly change the prediction. */
const PLACES_MAX = 200;
const OWN_WEIGHT = 2;
const OTHER_WEIGHT = 0.2;
/** Weight of the agent's last message, which the person answers, and of the artifact and the preferences. */
const LATEST_WEIGHT = 0.5;

/** Weight of a very old phrase. A phrase of today has the weight 1; the difference halves every `HALF_LIFE_DAYS`. */
const OLD_PHRASE_WEIGHT = 0.3;
const HALF_LIFE_DAYS = 30;

/**
 * Reports whether a message is in the person's own words. Accepted predictions are not: the predictor must not learn
 * from itself.
 */
export function isWrittenByPerson(message: Message): boolean {
  return message.role === 'user' && (message.origin === 'human' || message.origin === 'unknown');
}

/** Finds the places in remembered phrases and in a task's texts that match the end of the draft. */
export function evidenceFor(task: PredictionTask, end: DraftEnd): ContinuationEvidence[] {
  const evidence = (task.local?.phrases ?? []).map(({ following, words, scale, days, source }) => ({
    following,
    minWords: words,
    maxWords: words,
    weight: scale * (OLD_PHRASE_WEIGHT + (1 - OLD_PHRASE_WEIGHT) * 0.5 ** (days / HALF_LIFE_DAYS)),
    source,
    remembered: true,
  }));
  const minWords = end.tails[0] === '' ? 1 : 0;
  const nearest = end.tails[minWords] ?? '';
  let left = READ_MAX;
  for (const [place, { text, weight, remembered }] of textsOf(task, nearest).entries()) {
    if (left <= 0) break;
    const readText = text.slice(-left);
    left -= readText.length;
    evidence.push(
      ...findContinuations(readText, end.tails, minWords, {
        weight,
        source: String(place),
        remembered: remembered ?? false,
      }),
    );
  }
  return evidence;
}

interface WeightedText {
  text: string;
  weight: number;
  remembered?: boolean;
}

/**
 * Returns the texts of a task, the most relevant first. Episodes and raw rows of memory are left out, since the words
 * of agents in them would speak for the person.
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
    weight: LATEST_WEIGHT,
  }));
  const memoryTexts = [
    ...(memory?.facts ?? []),
    ...(memory?.recalled.facts ?? []),
    memory?.profile?.summary ?? '',
  ].map((text) => ({
    text,
    weight: OWN_WEIGHT,
    remembered: true,
  }));
  const typedText = { text: (draftHead + draft).slice(0, -nearest.length), weight: OWN_WEIGHT };
  return [
    typedText,
    { text: artifact?.selection ?? '', weight: LATEST_WEIGHT },
    ...conversation.reverse(),
    ...surroundingTexts,
    ...memoryTexts,
  ];
}

function weightOf(message: Message, isLatest: boolean): number {
  if (isWrittenByPerson(message)) return OWN_WEIGHT;
  return isLatest ? LATEST_WEIGHT : OTHER_WEIGHT;
}

/** Finds the places of a text at which a draft's last words (`tails`) occur, with what follows them. */
function findContinuations(
  text: string,
  tails: readonly string[],
  minWords: number,
  origin: Pick<ContinuationEvidence, 'weight' | 'source' | 'remembered'>,
): ContinuationEvidence[] {
  const lines = `\n${phraseLinesOf(text).trim()}\n`;
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
    const following = lines.slice(end, Math.min(lines.indexOf('\n', end), end + FOLLOWING_MAX));
    places.push({ following, minWords, maxWords, ...origin });
  }
  return places;
}

function endsWith(text: string, tail: string, end: number): boolean {
  return end >= tail.length && text.startsWith(tail, end - tail.length);
}

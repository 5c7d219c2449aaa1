import type { PredictionTask } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { type DraftEnd, folded, isWordStart, linesOf } from '../../../shared/text/phrases.ts';

/** A place where a text goes on like the draft: what follows there, up to the end of the line. */
export interface Evidence {
  following: string;
  /** The fewest and the most whole words before it that are the draft's; each number between them counts. */
  least: number;
  most: number;
  weight: number;
  /** The text that it is from: a row of memory, or a text of the request. */
  source: string;
  remembered: boolean;
}

/** Length of the request's texts, in UTF-16 units, the most relevant first. Bounds the time of a prediction. */
const READ_MAX = 24_000;
/** Looked at of what follows. */
const FOLLOWING_MAX = 80;
/** Places in one text: a word that fills it says no more. */
const PLACES_MAX = 200;
const OWN_WEIGHT = 2;
const OTHER_WEIGHT = 0.2;
/** The agent's last message is what the person answers. */
const LATEST_WEIGHT = 0.5;

/** Remembered phrases: of an old one counts so much, of one of today 1, halfway after `HALF_LIFE_DAYS`. */
const OLD_SHARE = 0.3;
const HALF_LIFE_DAYS = 30;

/** True if a message is in the person's own words. An accepted prediction is not, or the predictor would learn from itself. */
export function isOwn(message: Message): boolean {
  return message.role === 'user' && (message.origin === 'human' || message.origin === 'unknown');
}

/** All places, in what is remembered and in the texts of a task, that go on like its draft. */
export function evidenceFor(task: PredictionTask, end: DraftEnd): Evidence[] {
  const found = (task.local?.phrases ?? []).map(({ following, words, scale, days, source }) => ({
    following,
    least: words,
    most: words,
    weight: scale * (OLD_SHARE + (1 - OLD_SHARE) * 0.5 ** (days / HALF_LIFE_DAYS)),
    source,
    remembered: true,
  }));
  const least = end.tails[0] === '' ? 1 : 0;
  const nearest = end.tails[least] ?? '';
  let left = READ_MAX;
  for (const [place, { text, weight, remembered }] of texts(task, nearest).entries()) {
    if (left <= 0) break;
    const read = text.slice(-left);
    left -= read.length;
    found.push(
      ...placesIn(read, end.tails, least, { weight, source: String(place), remembered: remembered ?? false }),
    );
  }
  return found;
}

interface Text {
  text: string;
  weight: number;
  remembered?: boolean;
}

/** The most relevant first. Of what an agent said before this conversation nothing counts: it would speak for the person. */
function texts(
  { artifact, draft, draftHead, messages, preferences, memory }: PredictionTask,
  nearest: string,
): Text[] {
  const conversation = messages
    .filter(({ origin }) => origin !== 'accepted_prediction')
    .map((message, place) => ({
      text: message.content,
      weight: isOwn(message) ? OWN_WEIGHT : place === messages.length - 1 ? LATEST_WEIGHT : OTHER_WEIGHT,
    }));
  const around = [artifact?.summary, preferences].map((text) => ({
    text: text ?? '',
    weight: LATEST_WEIGHT,
  }));
  const known = [
    ...(memory?.facts ?? []),
    ...(memory?.recalled.facts ?? []),
    memory?.profile?.summary ?? '',
  ].map((text) => ({
    text,
    weight: OWN_WEIGHT,
    remembered: true,
  }));
  const typed = { text: (draftHead + draft).slice(0, -nearest.length), weight: OWN_WEIGHT };
  return [
    typed,
    { text: artifact?.selection ?? '', weight: LATEST_WEIGHT },
    ...conversation.reverse(),
    ...around,
    ...known,
  ];
}

function placesIn(
  text: string,
  tails: readonly string[],
  least: number,
  origin: Pick<Evidence, 'weight' | 'source' | 'remembered'>,
): Evidence[] {
  const lines = `\n${linesOf(text).trim()}\n`;
  const lower = folded(lines);
  const nearest = tails[least] ?? '';
  const places: Evidence[] = [];
  for (
    let at = lower.indexOf(nearest);
    at >= 0 && places.length < PLACES_MAX;
    at = lower.indexOf(nearest, at + 1)
  ) {
    if (!isWordStart(lines, at)) continue;
    const end = at + nearest.length;
    let most = least;
    while (most + 1 < tails.length && endsWith(lower, tails[most + 1] ?? '', end)) most += 1;
    const following = lines.slice(end, Math.min(lines.indexOf('\n', end), end + FOLLOWING_MAX));
    places.push({ following, least, most, ...origin });
  }
  return places;
}

function endsWith(text: string, tail: string, end: number): boolean {
  return end >= tail.length && text.startsWith(tail, end - tail.length);
}

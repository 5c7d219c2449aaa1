import { termsOf } from '../text/words.ts';
import { speaksOfChange, speaksOfEnd, tellsValue, topicsOf } from './stating.ts';

/** A row that may answer a question. */
export interface Answer {
  text: string;
  /** When it was said, or began to hold, in Unix milliseconds. */
  saidMs: number;
  /** A fact states something about the person. What they said may; what others said does not. */
  from: 'fact' | 'person' | 'others';
  /** What a fact settles, if that is known. Facts that settle other things do not compete. */
  slot?: string | null;
  /** From 0 (nothing in common with the question) to 1 (the most relevant row). */
  relevance: number;
}

interface PlacedAnswer extends Answer {
  at: number;
}

/** Share of its relevance that a row keeps that asks, rather than tells, and one that asks the same question. */
const ASKING = 0.7;
const ASKING_THE_SAME = 0.3;
/** What a row's relevance is multiplied by if it states a value as people state their own. */
const STATING = 1.5;
/**
 * Share of the best relevance from which on rows that state a value compete. The later of these stands first. Less is
 * enough for a successor.
 */
const COMPETING = 0.65;
const CHANGING = 0.2;
/** Share of its relevance that a fact loses if it has no word of the question. */
const RELATED_LOSS = 0.15;
/** Each row of those that compete has at most this share of the relevance of the one before. */
const NEXT = 0.92;
/** Who states a value in more words than this says more than the value. In UTF-16 units. */
const STATEMENT_LENGTH_MAX = 80;
const SUCCESSOR_LENGTH_MAX = 120;

/** Of a longer question, the end. In UTF-16 units. */
const QUESTION_LENGTH_MAX = 500;

const QUESTION_END = /[?？؟]["'”’»)\s]*$/u;
/** The question that a text ends with. */
const LAST_QUESTION = /[^.!?？。！\n]+[?？؟]["'”’»)\s]*$/u;

const ABOUT_SELF =
  /(?<!\p{L})(?:I|my|mine|me|we|our|us|ich|mein\p{L}*|wir|unser\p{L}*|je|j['’]|mon|ma|mes|nous|notre|nos|on|yo|mi|mis|nuestr[oa]s?)(?!\p{L})|[我私僕ฉัน]|ខ្ញុំ/iu;
/** A question about what was, or about an event. */
const ABOUT_PAST =
  /(?<!\p{L})(?:was(?! .*?(?<!\p{L})(?:ich|wir|mein|unser))|were|did|had|used to|ago|before|previous(?:ly)?|former(?:ly)?|ever|hab(?:e|en) .*?\p{L}(?:t|en)[?!. ]*$|hatten?|war(?:en)?|(?:ai|avons)(?:[- ](?:je|nous|on))? \p{L}+[éiu](?:e?s?)|étais?|avais|avions|he|hemos|era|antes)(?!\p{L})/iu;

/** A question without a name, as about something of which there is one: "Who lives next door?" */
const ABOUT_THE_KNOWN =
  /^\s*(?:[A-Z]?[a-z]{1,3} )?[Ww](?:ho|hom|hat|hich|hen|here)\b(?!.*\s\p{Lu})|^\s*How\b(?!.*\s\p{Lu})/u;

export function isQuestion(text: string): boolean {
  return QUESTION_END.test(text);
}

/**
 * Returns the relevance of rows as answers to the question that `asked` ends with; unchanged if it ends with none.
 *
 * - A row that asks is worth less than one that tells, and one that asks the same less than what follows it.
 * - If the person asks for a value of their own, as it is now, short statements of one are worth more. Of those that are
 *   nearly as relevant as the best, the latest comes first: they give the same thing different values.
 */
export function relevancesAsAnswers(asked: string, rows: readonly Answer[]): number[] {
  const [question] = LAST_QUESTION.exec(asked.slice(-QUESTION_LENGTH_MAX)) ?? [];
  if (question === undefined) return rows.map(({ relevance }) => relevance);
  const terms = termsOf(question);
  const asksForValue =
    (ABOUT_SELF.test(question) || ABOUT_THE_KNOWN.test(question)) && !ABOUT_PAST.test(question);
  const isStatement = rows.map((row) => asksForValue && statesValue(row));
  const topics = topicsOf(question);
  const weighed = rows.map(
    (row, at) =>
      row.relevance *
      (isStatement[at] ? STATING : 1) *
      askingPart(row.text, terms) *
      (row.from === 'fact' ? literalPart(row.text, topics) : 1),
  );
  const best = Math.max(...weighed);
  if (best <= 0) return weighed;
  const relevances = weighed.map((one) => one / best);
  const placed = rows.map((row, at) => ({ ...row, relevance: relevances[at] ?? 0, at }));
  const [leader] = (asksForValue ? placed : [])
    .filter(({ text, from }) => from !== 'others' && !isQuestion(text))
    .toSorted((a, b) => b.relevance - a.relevance);
  if (leader === undefined) return relevances;
  const rivals = placed.filter((one) => isAboutTheSame(one, leader, question));
  const successors = successorsOf(leader, question, rivals);
  const competing = new Set([
    ...rivals.filter(({ at, relevance }) => isStatement[at] && relevance >= COMPETING),
    ...(successors.length > 0 ? [leader, ...successors] : []),
  ]);
  const places = [...competing].map(({ relevance }) => relevance).sort((a, b) => b - a);
  let highest = 1;
  for (const [place, { at }] of [...competing].toSorted((a, b) => b.saidMs - a.saidMs).entries()) {
    relevances[at] = Math.min(places[place] ?? 0, highest);
    highest = NEXT * (relevances[at] ?? 0);
  }
  return relevances;
}

/** Facts are about the same if they settle it, or, where that is unknown, if they have the same words of the question. */
function isAboutTheSame(one: Answer, leader: Answer, question: string): boolean {
  if (leader.from !== 'fact') return true;
  if (one.slot && leader.slot) return one.slot === leader.slot;
  const asked = topicsOf(question);
  const [its, leaders] = [one, leader].map(({ text }) => asked.intersection(topicsOf(text)));
  return its?.symmetricDifference(leaders ?? new Set()).size === 0;
}

/**
 * Returns the later rows that say that the value in `leader` has ended, or that something has changed and share a word
 * with the question or with `leader`. Leaves out those that are much less relevant than the best of them.
 */
function successorsOf(leader: PlacedAnswer, question: string, rows: readonly PlacedAnswer[]): PlacedAnswer[] {
  if (speaksOfChange(leader.text)) return [];
  const asked = topicsOf(question);
  const told = topicsOf(leader.text);
  const values = told.difference(asked);
  const found = rows.filter(({ text, from, saidMs, relevance }) => {
    if (from === 'others' || text.length > SUCCESSOR_LENGTH_MAX || isQuestion(text)) return false;
    if (saidMs <= leader.saidMs || relevance < CHANGING) return false;
    const topics = topicsOf(text);
    return speaksOfChange(text)
      ? !topics.isDisjointFrom(asked.union(told))
      : speaksOfEnd(text) && !topics.isDisjointFrom(values);
  });
  const best = Math.max(...found.map(({ relevance }) => relevance));
  return found.filter(({ relevance }) => relevance >= COMPETING * best);
}

/** Related words find a fact as surely as the question's own, which say more. */
function literalPart(text: string, asked: ReadonlySet<string>): number {
  const share = asked.size === 0 ? 1 : asked.intersection(topicsOf(text)).size / asked.size;
  return 1 - RELATED_LOSS * (1 - share);
}

function askingPart(text: string, asked: ReadonlySet<string>): number {
  if (!isQuestion(text)) return 1;
  const terms = termsOf(text);
  const common = terms.intersection(asked).size;
  return common > 0.8 * asked.size && common > 0.6 * terms.size ? ASKING_THE_SAME : ASKING;
}

function statesValue({ text, from }: Answer): boolean {
  if (from === 'fact') return true;
  return from === 'person' && text.length <= STATEMENT_LENGTH_MAX && !isQuestion(text) && tellsValue(text);
}

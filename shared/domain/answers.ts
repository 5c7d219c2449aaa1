import { termsOf } from '../text/words.ts';

/** A row that may answer a question. */
export interface Answer {
  text: string;
  /** When it was said, or began to hold, in Unix milliseconds. */
  saidMs: number;
  /** A fact states something about the person. What they said may; what others said does not. */
  from: 'fact' | 'person' | 'others';
  /** From 0 (nothing in common with the question) to 1 (the most relevant row). */
  relevance: number;
}

/** Share of its relevance that a row keeps that asks, rather than tells, and one that asks the same question. */
const ASKING = 0.7;
const ASKING_THE_SAME = 0.3;
/** What a row's relevance is multiplied by if it states a value as people state their own. */
const STATING = 1.5;
/** Share of the best relevance from which on rows that state a value compete. The later of these stands first. */
const COMPETING = 0.5;
/** Each row of those that compete has at most this share of the relevance of the one before. */
const NEXT = 0.92;
/** Who states a value in more words than this says more than the value. In UTF-16 units. */
const STATEMENT_LENGTH_MAX = 80;

/** Of a longer question, the end. In UTF-16 units. */
const QUESTION_LENGTH_MAX = 500;

const QUESTION_END = /[?？؟]["'”’»)\s]*$/u;
/** The question that a text ends with. */
const LAST_QUESTION = /[^.!?？。！\n]+[?？؟]["'”’»)\s]*$/u;

const ABOUT_SELF =
  /(?<!\p{L})(?:I|my|mine|me|we|our|us|ich|mein\p{L}*|wir|unser\p{L}*|je|j['’]|mon|ma|mes|nous|notre|nos|on|yo|mi|mis|nuestr[oa]s?)(?!\p{L})|[我私僕ฉัน]|ខ្ញុំ/iu;
/** A question about what was, or about an event. */
const ABOUT_PAST =
  /(?<!\p{L})(?:was|were|did|had|used to|ago|before|previous(?:ly)?|former(?:ly)?|ever|habe|hatte|war(?:en)?|ai|avons|étais?|avais|he|hemos|era|antes)(?!\p{L})/iu;

const CHANGE =
  /(?<!\p{L})(?:now|since|these days|nowadays|from (?:now|this)|no longer|instead|any ?more|took over|as of|after the|the [\p{L}-]+ (?:is|are) (?:on|in|at|with)|jetzt|inzwischen|seit|nun|maintenant|désormais|depuis|ahora|desde|ya no)(?!\p{L})|[现現]在|今は|ตอนนี้|ឥឡូវ/iu;
const OWN_VALUE =
  /\b(?:my|our) (?:[\p{L}-]+ ){1,3}?(?:is|are|['’]s|(?!was)\p{L}+[^s\P{L}]s)\b|(?<!\p{L})(?:ich|wir|je|j['’]|nous|yo|(?:mein|unser)\p{L}* (?:\p{L}+ ){1,2}(?:ist|sind)|(?:mon|ma|notre) (?:\p{L}+ ){1,2}est|(?:mi|nuestr[oa]) (?:\p{L}+ ){1,2}es)(?!\p{L})|[我私僕ฉัน]|ខ្ញុំ/iu;
/** What somebody does, or has begun to do; not what they did once. */
const I_DO =
  /\b(?:I|we)(?:['’](?:m|re|ve)| am| are| have)? (?:also |just |always |usually |only |mostly )?(?:(?:(?:moved|switched|changed|migrated|cut|gone)(?! (?:the|an?)\b)|started|dropped|replaced|joined|bought|got|raised|lowered|cancelled|rewrote|became)\b|(?!was\b|were\b|had\b|did\b|could\b|would\b|read\b|saw\b|lost\b|forgot\b|wrote\b|paid\b|found\b|broke\b|drew\b|heard\b|hid\b|sold\b|made\b|went\b|said\b|told\b|thought\b|knew\b|came\b|took\b|gave\b|ate\b|left\b|felt\b|met\b|ran\b|sat\b|spent\b|won\b|dreamt\b|think\b|need\b)(?!\p{L}+ed\b)\p{L})/iu;

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
  const asksForValue = ABOUT_SELF.test(question) && !ABOUT_PAST.test(question);
  const isStatement = rows.map((row) => asksForValue && statesValue(row));
  const weighed = rows.map(
    (row, at) => row.relevance * (isStatement[at] ? STATING : 1) * askingPart(row.text, terms),
  );
  const best = Math.max(...weighed);
  if (best <= 0) return weighed;
  const relevances = weighed.map((one) => one / best);
  const competing = relevances
    .map((relevance, at) => ({ relevance, at, saidMs: rows[at]?.saidMs ?? 0 }))
    .filter(({ relevance, at }) => isStatement[at] && relevance >= COMPETING);
  const places = competing.map(({ relevance }) => relevance).sort((a, b) => b - a);
  let highest = 1;
  for (const [place, { at }] of competing.toSorted((a, b) => b.saidMs - a.saidMs).entries()) {
    relevances[at] = Math.min(places[place] ?? 0, highest);
    highest = NEXT * (relevances[at] ?? 0);
  }
  return relevances;
}

function askingPart(text: string, asked: ReadonlySet<string>): number {
  if (!isQuestion(text)) return 1;
  const terms = termsOf(text);
  const common = terms.intersection(asked).size;
  return common > 0.8 * asked.size && common > 0.6 * terms.size ? ASKING_THE_SAME : ASKING;
}

function statesValue({ text, from }: Answer): boolean {
  if (from === 'fact') return true;
  if (from === 'others' || text.length > STATEMENT_LENGTH_MAX || isQuestion(text)) return false;
  return CHANGE.test(text) || OWN_VALUE.test(text) || I_DO.test(text);
}

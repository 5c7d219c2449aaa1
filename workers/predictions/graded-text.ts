import { LIKELIHOOD_PROBABILITIES, LIKELIHOODS } from '../../shared/domain/likelihood.ts';
import { UNSPACED_SCRIPTS } from '../../shared/text/words.ts';
import { afterThoughts, objectsIn, parseJson } from '../providers/answer.ts';
import { repeatedLength } from './joined-text.ts';
import { endsInLeadingWord, mustGoOn } from './known-words.ts';

/** Likelihoods in the order of their digits. */
export const GRADES = LIKELIHOODS.toReversed();
/** The highest confidence in a text, however sure the model is. */
export const HIGHEST_CONFIDENCE = LIKELIHOOD_PROBABILITIES.almost_certain;

interface Found {
  text: string;
  /** Set if the grade stands beside the text instead of at its beginning. */
  grade?: string;
}

/** Depth to which a text is looked for in nested objects. */
const DEPTH_MAX = 3;
const GRADE_NAMES = /grade|likel|confiden|probab|score|digit/i;
const REMARK_NAMES = /reason|expla|thought|note|comment/i;
const TEXT_NAMES = /^(?:next|text|completion|continuation|suggestion|answer|output|content)$/i;

/**
 * Finds the text in a model's answer: in JSON of any shape, also with Python's quotes, unclosed, in a fence or after
 * thoughts, or without JSON. Returns undefined if there is none. Of a text that was cut off, returns the whole words.
 */
export function findText(content: string, isCutOff: boolean): Found | undefined {
  const whole = parseJson(content.replace(/^\ufeff/, ''));
  if (whole === null || (Array.isArray(whole) && whole.length === 0)) return { text: '' };
  if (whole !== undefined) return textIn(whole);
  const answer = afterThoughts(content);
  const found = objectsIn(answer)
    .map((object) => textIn(object))
    .findLast((text) => text !== undefined);
  return found ?? findLooseText(answer) ?? findBareText(answer, isCutOff);
}

function textIn(value: unknown, depth = 0): Found | undefined {
  if (typeof value === 'string') {
    const inner = depth < DEPTH_MAX && /^\s*\{/.test(value) ? parseJson(value) : undefined;
    return inner === undefined ? { text: value } : textIn(inner, depth + 1);
  }
  if (typeof value === 'number') return { text: String(value) };
  if (value === null) return { text: '' };
  if (typeof value !== 'object' || depth > DEPTH_MAX) return undefined;
  const entries = Object.entries(value);
  const isGrade = ([name, one]: [string, unknown]) =>
    typeof one !== 'object' &&
    (GRADE_NAMES.test(name) || (entries.length > 1 && /^\s*\d\s*$/.test(String(one))));
  const grades = entries.filter(isGrade);
  const others = entries.filter((entry) => !isGrade(entry) && !REMARK_NAMES.test(entry[0]));
  const likeliest = others.at(Array.isArray(value) ? 0 : -1);
  const [name, inner] = others.find(([other]) => TEXT_NAMES.test(other)) ?? likeliest ?? [];
  const found = inner === undefined ? undefined : textIn(inner, depth + 1);
  const grade = grades[0]?.[1] ?? (!Array.isArray(value) && /^\d$/.test(name ?? '') ? name : undefined);
  return found && grade !== undefined ? { grade: String(grade), ...found } : found;
}

const LOOSE_OBJECT = /\{\s*["']?\w+["']?\s*:\s*(["'])((?:\\[\s\S]|(?!\1\s*(?:[,}\]]|$))[^\\])*)(\1)?/;

/** Reads the first text of an object that is not quite JSON, or that has no end. */
function findLooseText(answer: string): Found | undefined {
  const straight = /\{\s*“/.test(answer) ? answer.replace(/[“”]/g, '"') : answer;
  const [, , escaped, end] = LOOSE_OBJECT.exec(straight) ?? [];
  if (escaped === undefined) return undefined;
  const quotable = escaped
    .replace(/\\$/, '')
    .replaceAll("\\'", "'")
    .replace(/(?<!\\)"/g, '\\"')
    .replace(/\r?\n/g, '\\n')
    .replaceAll('\t', '\\t');
  const text = parseJson(`"${quotable}"`);
  if (typeof text !== 'string') return undefined;
  if (end !== undefined) return { text };
  const whole = wholeWords(text);
  return whole === '' ? undefined : { text: whole };
}

const SPECIAL_TOKEN = /<\|[^|<>]*\|>|<\/?s>/g;
const LABEL = /^[^\S\n]*"?(?:next|answer|completion|continuation|output)"?[^\S\n]*[:=][^\S\n]*/im;
const TAGS = /^\s*<([a-z]+)>([\s\S]*)<\/\1>\s*$/i;
/** Marks of a list, a quotation or bold type before a grade. */
const MARKS = /^\s*(?:[-•>]\s*|\*{1,2})(?=[0-5]\D)/;
/** Remarks of a model on its answer, in lines of their own. */
const REMARKS =
  /\n[^\S\n]*(?:\(|(?:explanation|reason(?:ing)?|note)\b|this (?:is|continues|completes|follows)\b)[\s\S]*$/i;
const GRADED_LINE = /^[^\S\n]*[0-5][^\d\n.)][^\n]*$/gm;

function findBareText(answer: string, isCutOff: boolean): Found | undefined {
  const fenced = /```\w*\n?([\s\S]*?)(?:```|$)/.exec(answer)?.[1] ?? answer;
  // After thoughts without an end, only a line that begins with a grade can be the answer.
  const said = /<think/i.test(fenced) ? (isCutOff ? '' : (fenced.match(GRADED_LINE)?.at(-1) ?? '')) : fenced;
  const bare = said.replace(SPECIAL_TOKEN, '').replace(TAGS, '$2').replace(REMARKS, '').trimEnd();
  const label = LABEL.exec(bare);
  const labelled = label === null ? bare : bare.slice(label.index + label[0].length);
  const unmarked = MARKS.test(labelled) ? labelled.replace(MARKS, '').replace(/\*{1,2}$/, '') : labelled;
  const text = unmarked.replace(/^"([^"]*)"$/, '$1');
  const shown = isCutOff ? wholeWords(text) : text;
  return /[^\s{}[\]"':`]/.test(shown) && !/^\s*[{[]/.test(shown.replace(/^\s*\[\d\]/, ''))
    ? { text: shown }
    : undefined;
}

const WORD_END = new RegExp(`[\\s${UNSPACED_SCRIPTS}]`, 'u');

/** Drops what follows the last white space, or the last character of a script without spaces. */
function wholeWords(text: string): string {
  const points = [...text];
  return points
    .slice(0, points.findLastIndex((point) => WORD_END.test(point)) + 1)
    .join('')
    .trimEnd();
}

const NUMBER =
  /^\s*(?:(?:\*\*|[[(<])([0-9]+(?:\.[0-9]+)?)\s*%?(?:\*\*|[\])>])|([0-9]+(?:\.[0-9]+)?)(\s*%)?(?:\s*\/\s*(?:5|10|100)\b)?)/;
const HOURS = 24;
/** Begins with a time of day, whose number is no grade. */
const TIME_OF_DAY = /^(?::\d|\s?(?:[ap]\.?m\b|o['’]clock|Uhr\b|h\b))/i;
const LIKELIHOOD_WORDS = 'almost[ _]certain|very[ _](?:un)?likely|(?:un)?likely';
const WORD = new RegExp(
  `^[\\s[(*"]*(?:(${LIKELIHOOD_WORDS})(?!\\s+to\\b)(?=[\\s\\])*":,|])|(even|guess|zero|one|two|three|four|five)(?=[\\])*"]*\\s*[:|]))[\\])*"]*`,
  'i',
);
const REMARK = new RegExp(
  `^[\\s:]*(?:\\((?:${LIKELIHOOD_WORDS}|even|guess)\\)|(?:${LIKELIHOOD_WORDS})(?=:))`,
  'i',
);
/** Words that name a grade before it. */
const GRADE_LABEL =
  /^\s*(?:#|(?:grade|likelihood|score|digit|confidence|probability|rating)\s*[:=]?\s*)(?=\d)/i;
const GRADE_AT_END = /\s*[([]([0-5])[)\]]$/;
/** A digit that a model wrote twice, but no ordinal number. */
const DOUBLED_DIGIT = /^\s*([0-5])\1(?=\p{L})(?!st|nd|rd|th)/u;
const INVISIBLE = /^[\u200b\u2060\ufeff]+/;
/** Separates a grade from its text. */
const SEPARATOR = /^(?:\||\s*→|\s*[:：]+(?=\s|["'“\p{L}])|\s*(?:\.{3}|…)(?=\s*\p{L}))\s*/u;
/** Separates a grade from its text, or continues the draft. */
const DOUBTFUL_SEPARATOR = /^(?:\s*[.,;–—-]\s+|\s*[、，。]\s*|\s+(?:[-=]>|=)\s+|[)\]]\s+|\n\s*)/;

/** Splits an answer into its confidence, undefined where it states none, and the text that follows the draft. */
export function splitGrade(
  { text: said, grade }: Found,
  draft: string,
): { confidence: number | undefined; text: string } {
  const text = said.replace(GRADE_LABEL, '');
  const isLabelled = text !== said;
  if (grade !== undefined) {
    const repeatedGrade = text.startsWith(grade) && /^\d(?!\d)/.test(text);
    return { confidence: confidenceOf(grade), text: repeatedGrade ? text.slice(1) : text };
  }
  const latin = text.replace(/^\s*[０-９]/, (digit) => digit.normalize('NFKC'));
  const length = lengthOfGrade(latin, draft);
  if (length === 0) {
    const [last, digit = ''] = GRADE_AT_END.exec(text) ?? [''];
    const space = /\p{L}$/u.test(draft) && /^\d/.test(text) ? ' ' : '';
    return {
      confidence: confidenceOf(digit),
      text: space + withoutQuotes(text.slice(0, text.length - last.length)),
    };
  }
  const stated = latin.slice(0, length);
  const following = withoutGradeWord(latin.slice(length).replace(REMARK, ''), stated).replace(INVISIBLE, '');
  const isSpelled = /[a-z]/i.test(stated);
  return {
    confidence: confidenceOf(stated),
    text: withoutQuotes(
      isLabelled || isSpelled ? following.replace(/^[\s.,;:|–—-]*/, ' ') : withoutSeparator(following, draft),
    ),
  };
}

/** Removes the grade's own word after its digit: `4 likely …`. */
function withoutGradeWord(following: string, digit: string): string {
  const word = GRADES[Number(digit)]?.replace('_', ' ') ?? '';
  return word !== '' && following.trimStart().toLowerCase().startsWith(`${word} `)
    ? following.trimStart().slice(word.length)
    : following;
}

/** Returns 0 if the text begins with no grade, but perhaps with a number or a time of day. */
function lengthOfGrade(text: string, draft: string): number {
  const [found, enclosed, number, percent] = NUMBER.exec(text) ?? [];
  if (found === undefined) return WORD.exec(text)?.[0].length ?? 0;
  if (!/\d$/.test(draft) && DOUBLED_DIGIT.test(text)) return found.length;
  if (number === undefined || enclosed !== undefined || percent !== undefined) return found.length;
  const following = text.slice(found.length);
  if (!/\d$/.test(draft) && Number(number) <= HOURS && TIME_OF_DAY.test(following)) return 0;
  if (!/\d$/.test(draft) && Number(number) <= 100 && /^\s*[:：]\s/.test(following)) return found.length;
  if (number.length === 1) return found.length;
  const isDecimal = number.includes('.') && Number(number) <= 5 && !/\d$/.test(draft);
  if (isDecimal || (number === '10' && /\S$/.test(draft) && !/\d$/.test(draft))) return found.length;
  // A number follows a digit or white space of the draft, and grades below that are not shown.
  return (draft === '' || /[\s\d]$/.test(draft)) && /^\s*[3-5]/.test(text) ? text.search(/\d/) + 1 : 0;
}

const DIGIT_NAMES = ['zero', 'one', 'two', 'three', 'four', 'five'];

function confidenceOf(stated: string): number | undefined {
  const grade = stated.trim().replace(/^([0-5])\1$/, '$1');
  const word = /[a-z]+(?:[ _][a-z]+)?/i.exec(grade)?.[0].toLowerCase().replace(' ', '_');
  const digit = GRADES[DIGIT_NAMES.indexOf(word ?? '')];
  if (digit !== undefined) return LIKELIHOOD_PROBABILITIES[digit];
  const named = GRADES.find((one) => one === word) ?? (word === 'very_likely' ? 'almost_certain' : undefined);
  if (named !== undefined) return LIKELIHOOD_PROBABILITIES[named];
  const number = Number(/\d+(?:\.\d+)?/.exec(grade)?.[0] ?? Number.NaN);
  if (Number.isNaN(number)) return undefined;
  const isShare = grade.includes('%') || (number < 1 && grade.includes('.'));
  const level = isShare ? undefined : GRADES[Math.floor(number)];
  if (level !== undefined) return LIKELIHOOD_PROBABILITIES[level];
  const scale = grade.includes('%') || number > 10 ? 100 : isShare ? 1 : 10;
  return Math.min(number / scale, HIGHEST_CONFIDENCE);
}

function withoutSeparator(following: string, draft: string): string {
  const text = following.replace(SEPARATOR, (separator) => (/[.…]$/.test(separator) ? '' : ' '));
  const [separator] = DOUBTFUL_SEPARATOR.exec(text) ?? [];
  if (separator === undefined) return text;
  if (/[)\]]/.test(separator) && hasOpenBracket(draft)) return text;
  if (/[=>]/.test(separator) && !endsInLeadingWord(draft)) return text;
  if (separator.includes('\n')) return endsInLeadingWord(draft) ? text.replace(/^\s+/, ' ') : text;
  const separated = text.slice(separator.length);
  const endsClause = separator.includes('.') ? !/^\p{Ll}/u.test(separated) : !/[)\]]/.test(separator);
  return mustGoOn(draft) || !endsClause || repeatedLength(draft, separated) > 0 ? ` ${separated}` : text;
}

const hasOpenBracket = (draft: string) =>
  draft.lastIndexOf('(') > draft.lastIndexOf(')') || draft.lastIndexOf('[') > draft.lastIndexOf(']');

/** Removes quotation marks around the whole text. */
function withoutQuotes(text: string): string {
  return text
    .replace(
      /^(\s*)(?:"([^"]*)"|[“„]([^“”]*)[“”]|«([^»]*)»|'([^']*)'|‘([^’]*)’|「([^」]*)」|_([^_]*)_)\s*$/,
      '$1$2$3$4$5$6$7$8',
    )
    .replace(/^\s*(?:\.{3}|…)\s*(?=\p{L})/u, ' ');
}

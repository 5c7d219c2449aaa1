import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { UNSPACED_SCRIPTS, wordSet, wordsOf } from '../../shared/text/words.ts';

/** Words after which a sentence goes on, in the languages whose facts are found without a model. */
const LEADING_WORDS = wordSet(`
  a an the to of in into on onto at by for with within without from about as than and or but so if when because that
  i we you they he she my your our their his its is are was were will would can could should may must have has had am
  do does did not very please
  der die das den dem des ein eine einen einem einer und oder aber mit von zu zum zur im am auf für bei nach um ich wir
  mein meine unser unsere nicht ist sind
  le la les un une du de et ou à au aux en pour avec dans sur par je nous vous mon ma mes votre est sont
  el los las una del y o al con por mi tu su es son
`);

/** Common words that end no word which begins with a leading word. */
const WHOLE_WORDS = wordSet(`
  add agree almost always answer ask before better build call change changelog check client commit customer deploy
  discuss email everyone feature feedback finish first fix friday give go good great help home how invoice just know last
  later look make maybe meet meeting message monday more need never new note number people plan press problem project
  question quick report review run schedule screen send share show soon still sunday take talk task team tell thank
  thanks then there think ticket together too update use wait want week well where who work write yesterday
`);

/** Words that begin no word's end, so that one without a space before it is a word of its own. */
const SEPARATE_WORDS = wordSet(
  'the this that these which with without from you your we they their would could should when because about what tomorrow today please review report meeting project email customer invoice people monday tuesday wednesday thursday friday saturday sunday',
);

/** Beginnings of words that are no words. */
const PREFIXES = wordSet('re pre mis inter multi trans');

const LETTERS = `(?:(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}_])+`;
const LAST_WORD = new RegExp(`${LETTERS}$`, 'u');
const FIRST_WORD = new RegExp(`^${LETTERS}`, 'u');

/** Returns an empty text if the draft ends in no word, or in a script without spaces. */
export const lastWordOf = (draft: string): string => LAST_WORD.exec(draft)?.[0] ?? '';

/** Returns true if the draft ends in a whole word, after which no sentence or clause ends. */
export function endsInLeadingWord(draft: string): boolean {
  return LEADING_WORDS.has(lastWordOf(draft).toLowerCase());
}

/** Returns true if no word is begun, and no sentence or clause ends, at the draft's end. */
export function mustGoOn(draft: string): boolean {
  return lastWordOf(draft) === '' || endsInLeadingWord(draft);
}

/** Adds the space that is missing between two whole words, and drops one that divides a word of the context. */
export function withCorrectSpace({ draft, messages, memory }: PredictionTask, text: string): string {
  const written = lastWordOf(draft);
  const continued = text.replace(/^ +(?=\p{L})/u, '');
  const first = FIRST_WORD.exec(continued)?.[0] ?? '';
  if (first === '') return text;
  if (written === '') return beginsAfterMark(draft, text) ? ` ${text}` : text;
  const texts = [
    ...messages.map(({ content }) => content),
    draft.slice(0, -written.length),
    ...(memory?.facts ?? []),
    ...(memory?.recalled.facts ?? []),
    ...(memory?.recalled.said.map(({ content }) => content) ?? []),
  ];
  const known = new Set(texts.flatMap(wordsOf));
  const isKnown = (word: string) => LEADING_WORDS.has(word) || WHOLE_WORDS.has(word) || known.has(word);
  const [last, next] = [written.toLowerCase(), first.toLowerCase()];
  if (continued !== text) {
    const isDivided = isKnown(last + next) && !isKnown(next) && !isKnown(last);
    return isDivided || (PREFIXES.has(last) && !LEADING_WORDS.has(next)) ? continued : text;
  }
  if (isKnown(last + next)) return text;
  const isWhole = isKnown(next) || /^\p{Lu}\p{Ll}+$/u.test(first);
  const areWords = last.length > 1 && ((isKnown(last) && isWhole) || SEPARATE_WORDS.has(next));
  return areWords ? ` ${text}` : text;
}

/** Returns true if a space is missing after the mark with which the draft ends: `Hello,`, `Done.` */
function beginsAfterMark(draft: string, text: string): boolean {
  return /\p{L}[,;!?]$/u.test(draft)
    ? /^\p{L}/u.test(text)
    : /\p{Ll}\.$/u.test(draft) && /^\p{Lu}\p{Ll}*\b/u.test(text);
}

import { COMMON_WORDS, stemOf } from '../../shared/domain/facts/compare.ts';
import { meaningOf } from '../../shared/text/meaning.ts';
import { UNSPACED_SCRIPTS, wordSet, wordsOf } from '../../shared/text/words.ts';

const SENTENCE_END = /(?<=[.!?。！？]["'”’»)]*)\s+|\n+/u;
const QUESTION_END = /[?？]["'”’»)\s]*$/u;
const FIRST_PERSON =
  /(?<!\p{L})(?:j['’]|(?:I|my|we|our|ich|mein\p{L}*|wir|unser\p{L}*|je|mon|ma|mes|nous|notre|on|yo|mi|mis|nosotros|nuestr\p{L}+)(?!\p{L}))/iu;
const CLAUSE_END = /\s*[,;:–—]\s*/u;

/** Returns what a text states: not its questions, but what the person says of themselves before one ("I use Vim, …?"). */
function statedIn(text: string): string {
  return text
    .split(SENTENCE_END)
    .map((sentence) => {
      if (sentence.includes('¿')) return sentence.replace(/¿[^?]*\??/g, ' ');
      if (!QUESTION_END.test(sentence)) return sentence;
      const clauses = sentence.split(CLAUSE_END).slice(0, -1);
      return clauses.filter((clause) => FIRST_PERSON.test(clause)).join(', ');
    })
    .join('\n');
}

/** Short and frequent words that say nothing about a topic. Those of English with three letters are `COMMON_WORDS`. */
const FUNCTION_WORDS = wordSet(`
  yes no up if ok us than then about
  ich du er sie es wir ihr der die das den dem des ein eine einen einem einer und oder aber mit von vom für auf an am im ist
  bin sind hat habe nicht kein keine auch nur sehr zu zum zur als wie bei aus nach um so ja nein immer nie mein meine
  je tu il elle on nous vous le la les un une des de du et ou mais en au aux avec pour sur dans est suis sont ai ne pas plus
  que qui se ce mon ma mes oui non toujours jamais tous tout très comme par
  yo tú él los las uno una del al y o pero con para por sobre es soy son no que se lo su sus mi mis sí siempre nunca muy
  como más todo todos`);
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
const STEM_CHARS_MIN = 3;

function contentStemsOf(text: string): string[] {
  const words = wordsOf(text).filter((word) => !COMMON_WORDS.has(word) && !FUNCTION_WORDS.has(word));
  return words.map(stemOf);
}

/** Inflected forms may be shorter than a stem: `run`, `running`. */
function isSameStem(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= STEM_CHARS_MIN && !UNSPACED.test(short) && long.startsWith(short);
}

/** Reports whether a person's words state something, and have a word in common with a statement about the person. */
export function supports(words: string, statement: string): boolean {
  const stated = statedIn(words);
  if (['yes', 'no'].includes(meaningOf(stated))) return false;
  const stems = contentStemsOf(stated);
  return contentStemsOf(statement).some((stem) => stems.some((one) => isSameStem(stem, one)));
}

import { detailsOf, haveSameDetails, NEGATION_WORDS, NUMBER_AND_DATE_WORDS } from '../../text/details.ts';
import { similarity } from '../../text/similarity.ts';
import { wordSet, wordsOf } from '../../text/words.ts';

/** Words that say nothing about the topic of a statement. */
export const COMMON_WORDS = wordSet(`
  i me my mine we us our ours you your yours he she they them their it its this that these those there
  a an the and or but so as at by for from in into of on onto to with within without over under per
  am is are was were be been being do does did have has had will would can could should may might must
  always usually mostly mainly generally normally now still only ever never no not also just please too very all any
  other others else anymore everything anything whatever everywhere year day days time one ones give get make keep keeps
  use uses used using prefer prefers preferred like likes liked love loves want wants run runs work works write writes
  take takes live lives call called name named switched moved changed gone went says said person user set choice
  instead rather than longer before more most almost while when where who which what home main mainly favourite favorite
  new own because since mind here good better best code`);

/** The like in German, French and Spanish, for the words of a value. Without marks, as `wordsOf` returns words. */
const COMMON_WORDS_ABROAD = wordSet(`
  ich wir mein meine meinen meinem meiner unser unsere unseren unserem ist sind bin habe haben der die das den dem ein eine einen
  einem einer bei als auf zu nach von mit fur im am und seit jetzt nun inzwischen mehr immer gern gerne nur heiße heisse heißt
  wohne wohnen lebe leben arbeite nutze nutzen benutze benutzen verwende verwenden bevorzuge gezogen umgezogen umgestiegen
  gewechselt ersetzt abgelost getauscht durch gegen angefangen angestellt
  je d j l m n s t qu ai nous avons suis sommes est sont mon ma mes notre nos la les des du le un une en et au aux chez comme pour par contre vers
  maintenant desormais depuis toujours plus utilise utilisons prefere habite vis travaille appelle passe passee passes migre
  demenage emmenage remplace abandonne quitte troque laisse tomber nom
  yo mi mis nuestro nuestra es son el los las una y con para por como ahora desde siempre ya de uso usamos utilizo vivo trabajo
  llamo nombre prefiero hemos cambiado pasado migrado mude mudamos mudado nos dejado deje sustituido reemplazado cambie`);

const STEM_CHARS = 5;

/** Returns the first letters of a word, so that its inflected forms count as the same word. */
export function stemOf(word: string): string {
  return word.slice(0, STEM_CHARS);
}

export function normalizeWords(text: string): string {
  return wordsOf(text).join(' ');
}

/** Phrases for something given up: `from npm to …`, `moved from npm`, `instead of npm`, `no longer npm`. */
const GIVEN_UP_PHRASES = [
  /\bfrom\s+[^\s,.;!?](?:[^,.;!?]{0,58}?[^\s,.;!?])??\s+(?=to\b)/gi,
  /\b(?:moved|switched|gone|changed|migrated|away)\s+from\s+[^,.;!?]*/gi,
  /\b(?:instead of|rather than|in place of|no longer|formerly|previously|stopped|over(?! to\b)|not(?! (?:only|just)\b))\b[^,.;!?]*/gi,
  /\bdon['’]t\b[^,.;!?]*\bany ?more\b/gi,
  /\b(?:replac(?:e|es|ed|ing)|swapped|dropped|quit|ditched|dumped|traded|left(?= \S+ for\b))\s+\S+/gi,
  // German, French, Spanish
  /(?<!\p{L})von\s+\S+\s+(?=(?:auf|zu|nach)\s)/giu,
  /(?<!\S)\S+\s+(?=(?:durch|gegen)\s+\S+\s+(?:ersetzt|abgelöst|(?:aus|ein)?getauscht)(?!\p{L}))/giu,
  /(?<!\S)\S+\s+(?:nicht|kein\p{L}*) mehr(?!\p{L})|(?<!\p{L})statt(?: \S+)?/giu,
  /(?<!\p{L})(?:de\s+|d['’])\S{1,40}\s+(?=(?:à|vers|sur|chez|a|por)\s)/giu,
  /(?<!\p{L})(?:remplacé|abandonné|quitté|troqué|lâché|laissé tomber)\s+\S+|(?<!\p{L})au lieu d(?:e |['’])\S{1,40}/giu,
  /(?<=\bn(?:e |['’])\p{L}+ )plus\s+\S+/giu,
  /(?<!\p{L})(?:(?:sustituido|reemplazado|abandonado|dejado|sustituí|reemplacé|abandoné|dejé)\s+\S+|cambi(?:ado|é)\s+(?!de\b|a\b)\S+|ya no\s[^,.;!?]*|en (?:vez|lugar) de\s+\S+)/giu,
];
const FROM_NOW_ON = /\bfrom now on\b/gi;

export function withoutGivenUpPhrases(text: string): string {
  return GIVEN_UP_PHRASES.reduce(
    (left, pattern) => left.replaceAll(pattern, ' '),
    text.replaceAll(FROM_NOW_ON, ' '),
  );
}

/** Minimum similarity of two statements that say the same. */
const DUPLICATE_SIMILARITY = 0.85;

/**
 * Reports whether two statements say the same in nearly the same words. A different number, date, negation or other
 * meaningful word makes a different statement (`npm` and `pnpm` look nearly alike), and so does the reverse change
 * (`npm instead of pnpm`, `pnpm instead of npm`).
 */
export function isNearDuplicate(a: string, b: string): boolean {
  return (
    similarity(a, b) >= DUPLICATE_SIMILARITY &&
    haveSameDetails(a, b) &&
    haveSameMeaningfulWords(a, b) &&
    haveSameMeaningfulWords(withoutGivenUpPhrases(a), withoutGivenUpPhrases(b))
  );
}

/** The order counts: `tea to coffee` is the opposite of `coffee to tea`. */
function haveSameMeaningfulWords(a: string, b: string): boolean {
  return meaningfulWordsIn(a).join(' ') === meaningfulWordsIn(b).join(' ');
}

/** Returns the stems of a text's meaningful words: numbers, dates, and all words that are not in `COMMON_WORDS`. */
export function meaningfulWordsIn(text: string): string[] {
  return wordsOf(text)
    .filter((word) => !COMMON_WORDS.has(word) || NUMBER_AND_DATE_WORDS.has(word))
    .map(stemOf);
}

export const CHANGE_WORDS =
  /\b(?:now|switch(?:ed)?|moved|relocated|changed|gone|migrated|instead|no longer|any ?more|replaced|swapped|ditched|dumped|traded|stopped|left(?= \S+ for\b))\b|(?<!\p{L})(?:jetzt|inzwischen|(?:nicht|kein\p{L}*) mehr|(?:um)?gezogen|umgestiegen|gewechselt|ersetzt|abgelöst|getauscht|maintenant|désormais|passée?s?|migré|déménagé|emménagé|remplacé|abandonné|quitté|troqué|laissé tomber|ahora|ya no|cambi(?:ado|é)|pasado|migrado|sustituido|reemplazado|abandonado|dejado|dejé|mudé|mudado|mudamos)(?!\p{L})|\bn(?:e |['’])\p{L}+ plus\b/iu;

/**
 * Reports whether two statements give the slot the same value. All words of one statement must be in the other, in the
 * same order, and numbers, dates and negations must agree. `COMMON_WORDS`, words of the slot and phrases about a former
 * value do not count. If a statement mentions a change, both must have exactly the same words, because one of them may
 * be the former value.
 */
export function isSameValue(a: string, b: string, slot: string): boolean {
  const [one, other] = [valueWordsIn(a, slot), valueWordsIn(b, slot)];
  if (one.size === 0 || other.size === 0) return false;
  if (!haveSameDetails(withoutGivenUpPhrases(a), withoutGivenUpPhrases(b))) return false;
  const isChange = CHANGE_WORDS.test(a) || CHANGE_WORDS.test(b);
  if (isChange && one.symmetricDifference(other).size > 0) return false;
  return (one.isSubsetOf(other) || other.isSubsetOf(one)) && haveSameOrder(one, other);
}

function haveSameOrder(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const commonIn = (words: ReadonlySet<string>) =>
    [...words].filter((word) => one.has(word) && other.has(word)).join(' ');
  return commonIn(one) === commonIn(other);
}

/** Words of German, French and Spanish that name the topic of a slot. */
const TOPIC_WORDS_ABROAD: Readonly<Record<string, string>> = {
  'tool.browser': 'navigateur navegador',
  'tool.database': 'datenbank base données datos',
  'tool.editor': 'éditeur',
  'tool.package_manager': 'paketmanager gestionnaire paquets gestor paquetes',
  'environment.system': 'betriebssystem système exploitation sistema operativo',
};

function topicStemsOf(slot: string): Set<string> {
  return new Set(wordsOf(`${slot} ${TOPIC_WORDS_ABROAD[slot] ?? ''}`).map(stemOf));
}

export function valueWordsIn(text: string, slot: string): Set<string> {
  const topic = topicStemsOf(slot);
  const words = wordsOf(withoutGivenUpPhrases(text)).filter(
    (word) => !COMMON_WORDS.has(word) && !COMMON_WORDS_ABROAD.has(word),
  );
  return new Set(words.filter((word) => !topic.has(stemOf(word))));
}

/** Common words that `specificWordsIn` keeps, since a person who no longer uses something may still like it. */
const LIKING_WORDS = wordSet('like likes liked love loves');

const GIVING_UP_WORDS = wordSet(
  'replace replaces replaced replacing swapped dropped quit ditched dumped traded left',
);

/** Returns `npm` for `moved from npm to pnpm`, and nothing for a mere preference for one thing over another. */
export function givenUpValuesIn(text: string): Set<string>[] {
  if (!CHANGE_WORDS.test(text)) return [];
  const spoken = text.replaceAll(FROM_NOW_ON, ' ');
  const phrases = GIVEN_UP_PHRASES.flatMap((pattern) => spoken.match(pattern) ?? []);
  return phrases
    .map((phrase) => specificWordsIn(phrase, null).difference(GIVING_UP_WORDS))
    .filter((values) => values.size > 0);
}

/** A negation that denies only a part: `not always`. */
const PARTIAL_NEGATION = /(?:\bnot|n['’]t) (?:always|only|just|all|every)\b/i;

/** Reports whether one statement is the negation of the other: `I never use Docker`, `I use Docker now`. */
export function isNegationOf(a: string, b: string): boolean {
  if (PARTIAL_NEGATION.test(a) || PARTIAL_NEGATION.test(b) || isNegated(a) === isNegated(b)) return false;
  const [one, other] = [specificWordsIn(a, null), specificWordsIn(b, null)];
  return one.size > 0 && one.symmetricDifference(other).size === 0;
}

function isNegated(text: string): boolean {
  return [...detailsOf(text)].some((word) => NEGATION_WORDS.has(word));
}

/**
 * Returns the words of the value that a statement gives to a slot; none for a negation. They can be compared with the
 * result of `givenUpValuesIn`.
 */
export function statedValueOf(text: string, slot: string | null): Set<string> {
  const left = withoutGivenUpPhrases(text);
  return isNegated(left) ? new Set() : specificWordsIn(left, slot);
}

/** `J’utilise` has two words, but `don’t` has one. */
const ELISION = /(?<=(?<!\p{L})(?:[djlmnst]|qu))['’](?=\p{L}{2})/giu;

/** Returns the words of a text, without `COMMON_WORDS` (except words for liking), negations and words of the slot. */
export function specificWordsIn(text: string, slot: string | null): Set<string> {
  const topic = topicStemsOf(slot ?? '');
  const isCommon = (word: string) =>
    (COMMON_WORDS.has(word) && !LIKING_WORDS.has(word)) || COMMON_WORDS_ABROAD.has(word);
  const words = wordsOf(text.replaceAll(ELISION, ' ').replaceAll(/['’]/g, ''));
  return new Set(
    words.filter((word) => !isCommon(word) && !NEGATION_WORDS.has(word) && !topic.has(stemOf(word))),
  );
}

const VALUE_WORDS_MAX = 3;
const ADDITION_WORDS = /\b(?:also|too|as well|besides|both|sometimes|in addition)\b/i;

/**
 * Reports whether two statements give the slot different values: `Uses npm as package manager`, `Uses pnpm as package
 * manager`, for `tool.package_manager`. The words that they share must include the slot's name. Otherwise, `Likes tea`
 * and `Likes climbing` would count as two values of one slot.
 */
export function isOtherValue(a: string, b: string, slot: string): boolean {
  if (ADDITION_WORDS.test(a) || ADDITION_WORDS.test(b)) return false;
  const [one, other] = [wordsOf(a), wordsOf(b)];
  const start = countCommonStart(one, other);
  const end = countCommonStart(one.slice(start).toReversed(), other.slice(start).toReversed());
  const values = [one, other].map((words) => words.slice(start, words.length - end));
  const isValue = (words: readonly string[]) =>
    words.length > 0 &&
    words.length <= VALUE_WORDS_MAX &&
    !words.some((word) => NEGATION_WORDS.has(word)) &&
    words.some((word) => !COMMON_WORDS.has(word));
  if (!values.every(isValue)) return false;
  const frame = new Set([...one.slice(0, start), ...one.slice(one.length - end)].map(stemOf));
  const named = wordsOf(slot.slice(slot.lastIndexOf('.') + 1).replaceAll('_', ' '));
  return named.length > 0 && named.every((word) => frame.has(stemOf(word)));
}

function countCommonStart(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => word !== other[at]);
  return differs < 0 ? one.length : differs;
}

const VERSION = /(?<!\p{L})(\p{Lu}[\p{L}.]*) v?(\d+(?:\.\d+)*)(?![\p{L}\d])/gu;
/** Words after which a version is the one in use. */
const IN_USE = /\b(?:now|since|as of|from now on|upgraded?|these days)\b/i;

/** Reports whether one statement names another version of a thing than the other: `Node 18`, `Node 22 since May`. */
export function isOtherVersion(a: string, b: string): boolean {
  if (!IN_USE.test(a) && !IN_USE.test(b)) return false;
  const [one, other] = [a, b].map(
    (text) => new Map([...text.matchAll(VERSION)].map(([, name, of]) => [name, of])),
  );
  return [...(one ?? [])].some(([name, of]) => other?.has(name) && other.get(name) !== of);
}

import { NEGATION_WORDS } from '../../text/details.ts';
import { wordSet, wordsOf } from '../../text/words.ts';

/** What a prompt asks. */
export interface Question {
  /** The last question, or else the last request; '' if there is neither. */
  question: string;
  /** The question if it stands alone, else the end of the prompt. Prompts are alike if these are. */
  compared: string;
  /** All that a yes may agree to. */
  atStake: string;
  /** True if a part of the prompt to which the question refers is not compared. */
  isCut: boolean;
}

/** Length of the compared end of a prompt, in UTF-16 units. The question is usually there. */
export const PROMPT_END_CHARS = 600;

const CODE_BLOCK = /```[\s\S]*?(?:```|$)/gu;
const SENTENCE_END = /(?<=[.!?…][\p{Pe}\p{Pf}"'*_`]*)\s+|(?<=[。！？؟])|\n+/u;
const QUESTION = /[?？؟][\p{Pe}\p{Pf}"'*_`\s]*$|[[(]y(?:es)?\/no?[\])]|[吗嗎呢]$|[かか]$/iu;
const REQUEST =
  /^\W*(?:please|let me know|tell me|say|confirm|choose|pick|select|approve|type|reply|bitte|sag|bestätige|wähle|dis|dites|confirme[zr]?|choisis|merci de|por favor|dime|elige|avísame)(?!\p{L})/iu;
/** Announces what follows a yes, in languages of which `refersToReport` knows the pronouns. */
const ANNOUNCEMENT =
  /\b(?:i(?:'|’)ll|(?:i|we) will|(?:i(?:'|’)m|i am|we are|going) (?:going|about) to|next|then|afterwards?|after that|once|ich werde|werde ich|wird|dann|danach|anschließend|als nächstes|je vais|ensuite|puis|après|voy a|luego|después|a continuación)\b/iu;

/**
 * Words that a question in English, German, French or Spanish has, whatever it asks. Other languages are not known well
 * enough to tell whether a question stands alone.
 */
const GRAMMAR = wordSet(`
  shall should may might can could do does did is are was will would have has i we you me us my your our the a an to of in
  on at for from with and or as if now also too please again still just already really
  soll sollen sollte darf durfen kann konnen konnte ist sind wird wurde hast habe mochtest willst mochten ich wir du mir uns
  der die den dem ein eine einen einer zu im in am auf an von fur mit und oder jetzt auch noch bitte mal
  dois doit peux peut puis puisje vais veux voulez faut est sont que je on nous tu vous le la les l un une des du de d au aux a
  dans sur pour avec et ou maintenant aussi
  debo puedo quieres quiere es son el los las una unos unas del al en con para por y o ahora tambien me te`);
/** Words that say to do something, or name it, without saying what. */
const GENERAL = wordSet(`
  ok okay right good fine ready sure yes no go ahead going on proceed continue start begin make made apply execute run perform
  implement try take accept approve confirm want like need change changes edit edits update updates fix plan step steps
  suggestion proposal command commands action actions operation task work rest next file approach
  machen mache mach tun weiter weitermachen fortfahren ausfuhren anwenden anfangen starten beginnen umsetzen ubernehmen recht gut
  anderung anderungen vorschlag schritt schritte befehl aktion aufgabe rest nachsten
  continuer continue proceder faire fais fait fasse appliquer applique executer execute lancer lance commencer daccord bon
  changement changements modification modifications commande etape proposition suite
  continuar continuo proceder procedo seguir sigo hacer hago haga aplicar aplico ejecutar ejecuto empezar lanzar bien
  cambio cambios comando accion paso pasos propuesta resto`);
const REFERENCES = wordSet(`
  it its this that these those they them he she him so there here same such both either neither one ones other others another
  above below following previous everything all first second
  es sie ihn ihm dies diese dieses diesen dieser so alles beide folgende
  ce cela ca ceci celui celle ceux celles cette ces cet y en tout tous
  lo esto eso este esta estos estas ese esa todo aquello`);
/** Pronouns that look like articles: "Soll ich die ausführen?", "Je les lance ?", "¿Las ejecuto?", "¿Puedo ejecutarlas?" */
const ARTICLE_PRONOUNS =
  /(?:das|die|den|der)(?: (?:jetzt|auch|noch|gleich|mal|dann|wirklich))* \p{L}+$|\b(?:je|on|nous|faut il) (?:l|la|le|les) |^(?:la|los|las|les) |\b(?:que|ya|debo) (?:la|los|las) |\p{L}{2}[aei]r(?:l[aeo]s?)\b/u;

/** Finds what a prompt asks in its end. The report before counts as far as the question refers to it. */
export function questionIn(prompt: string): Question {
  const end = prompt.slice(-PROMPT_END_CHARS);
  const sentences = sentencesOf(end);
  const at = Math.max(
    sentences.findLastIndex((one) => QUESTION.test(one)),
    // A question says more than the request that follows it: "Shall I? Let me know."
    sentences.some((one) => QUESTION.test(one)) ? -1 : sentences.findLastIndex((one) => REQUEST.test(one)),
  );
  const question = sentences[at] ?? '';
  if (refersToReport(question))
    return { question, compared: end, atStake: prompt, isCut: prompt.length > PROMPT_END_CHARS };
  const others = sentencesOf(prompt).filter((one) => QUESTION.test(one) || ANNOUNCEMENT.test(one));
  return {
    question,
    compared: question,
    atStake: [...others, ...sentences.slice(at)].join('\n'),
    isCut: false,
  };
}

function sentencesOf(text: string): string[] {
  return text
    .replaceAll(CODE_BLOCK, '\n')
    .split(SENTENCE_END)
    .map((one) => one.trim())
    .filter((one) => /[\p{L}\p{N}]/u.test(one));
}

function refersToReport(question: string): boolean {
  const words = wordsOf(question);
  const isOwn = (word: string) => !GRAMMAR.has(word) && !GENERAL.has(word);
  // Short words of one language are those of another.
  const isKnown = words.filter((word) => GRAMMAR.has(word)).some((word, nth) => nth > 0 || word.length > 2);
  return (
    !isKnown ||
    !words.some(isOwn) ||
    words.some((word) => REFERENCES.has(word)) ||
    ARTICLE_PRONOUNS.test(words.join(' '))
  );
}

const DEEDS = [
  /\b(?:shall|should|may|can|could|must) (?:i|we) (\p{L}+)|\b(?:want|like|need) me to (\p{L}+)/u,
  /\b(?:like|want|ready|ok|okay|fine|good|safe|time) to (\p{L}+)|\b(?:ok|okay|fine|alright) if (?:i|we) (\p{L}+)/u,
  /\b(?:soll|sollen|darf|kann|mochtest|mochten|willst|wollen) (?:ich|wir|du|sie) .*?(\p{L}+)$/u,
  /\b(?:(?:dois|puis|peux|vais) je|je (?:dois|peux|vais)|faut il) (?:l |l[ae]s? )?(\p{L}+)|(?:^|\bque )(?:je|on|nous) (?!dois|peux|vais)(?:l |l[ae]s? )?(\p{L}+)/u,
  /\b(?:quieres|quiere|deseas|desea) que (\p{L}+)|\b(?:debo|puedo|podemos|quieres|quiere|deseas|desea) (\p{L}+)/u,
];
/** `¿Ejecuto …?` and `¿Quieres que ejecute …?` offer the same. */
const VERB_ENDING = /(?<=\p{L}{2})(?:[aei]r|en|es|ez|[aeo])$/u;
const ADVERBS = /\b(?:also|now|just|still|then|already|please)\b /gu;
/** First words of a question that are no deed. */
const NO_DEED = wordSet(`
  ok okay right good great fine ready sure yes no done what which who whose where when why how
  was welche welcher welches wer wo wann warum wie qui quel quelle quels quelles comment pourquoi quand cual quien cuando como`);

/**
 * Returns the verb of what the agent offers to do, with the negations beside it: "run", "run without". A question that
 * begins with no other word begins with the verb: "Enable the cache?". Questions that differ only in it are alike in
 * their words, but not in what a yes agrees to.
 */
export function deedIn(question: string): string | undefined {
  const words = wordsOf(wordsOf(question).join(' ').replaceAll(ADVERBS, ''));
  const said = words.join(' ');
  const named = DEEDS.map((deed) => deed.exec(said)).find((found) => found !== null);
  const first = words.slice(0, 1).find((word) => !isNoDeed(word));
  const verb = named?.slice(1).find((word) => word !== undefined) ?? first;
  return (
    verb && [verb.replace(VERB_ENDING, ''), ...words.filter((word) => NEGATION_WORDS.has(word))].join(' ')
  );
}

const isNoDeed = (word: string) => NO_DEED.has(word) || GRAMMAR.has(word) || REFERENCES.has(word);

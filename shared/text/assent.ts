import { NEGATION_WORDS, NUMBER_AND_DATE_WORDS } from './details.ts';
import { wordSet, wordsOf } from './words.ts';

const phrasesIn = (phrases: string) => new Set(phrases.split('|').map((one) => one.trim()));

/** Ways to say yes or no, normalized. */
const ASSENTS = phrasesIn(
  `yes|y|yep|yeah|yup|ok|o k|okay|sure|sure thing|go|go ahead|go on|go for it|proceed|do it|do that|do so|please do|continue|carry on|
  keep going|sounds good|sounds great|looks good|works for me|that works|lgtm|fine|agreed|approved|of course|absolutely|definitely|
  certainly|by all means|alright|all right|right|correct|k|👍|👌|✅|✔|auf jeden fall|ouais|venga|claro que sí|ja|jo|jawohl|klar|gerne|genau|natürlich|unbedingt|einverstanden|in ordnung|nur zu|leg los|mach das|
  mach es|mach weiter|weiter|oui|daccord|bien sûr|volontiers|vas y|allez y|fais le|faites le|cest bon|sí|si|claro|vale|dale|hazlo|
  adelante|de acuerdo|por supuesto|sigue|sim|да|так|давай|tak|ano|igen|kyllä|joo|evet|tamam|ναι|כן|نعم|हाँ|जी|có|vâng|ya|iya|ใช่|是|是的|
  好|好的|可以|同意|行|はい|うん|お願いします|네|예|응`,
);
const DENIALS = phrasesIn(
  `no|n|nope|nah|no need|not now|not yet|noch nicht|pas encore|todavía no|aún no|better not|rather not|skip|skip it|skip that|leave it|dont|do not|dont do it|dont do that|👎|❌|nein|nö|
  nicht nötig|nicht jetzt|jetzt nicht|lieber nicht|lass es|lass das|non|pas besoin|pas la peine|pas maintenant|laisse tomber|ahora no|
  no hace falta|mejor no|déjalo|não|nao|nie|ne|nee|nej|nei|ei|hayır|hayir|нет|ні|όχι|לא|لا|नहीं|không|tidak|ไม่|不|不要|不用|いいえ|아니요|아니`,
);
/** Words that say nothing by themselves: politeness and praise. */
const COURTESIES = phrasesIn(
  `please|thanks|thank you|thx|great|perfect|nice|cool|bitte|danke|gern|mal|ruhig|super|prima|perfekt|merci|parfait|sil te plaît|
  sil vous plaît|por favor|gracias|perfecto|genial|grazie|пожалуйста|спасибо|proszę|谢谢`,
);
const PHRASE_WORDS_MAX = 3;

/** Of these phrases, the first say yes and the others no, but the opposite if the question is whether to stop. */
const GOING_ON = phrasesIn(
  `go|go on|go ahead|go for it|proceed|continue|carry on|keep going|nur zu|leg los|mach weiter|weiter|vas y|allez y|dale|adelante|
  sigue|venga`,
);
const LEAVING = phrasesIn('skip|skip it|skip that|leave it|lass es|lass das|laisse tomber|déjalo');
const STOPPING = wordSet(`
  stop abort cancel halt quit pause wait hold skip leave omit ignore mind
  stoppen stoppe abbrechen anhalten aufhoren pausieren warten uberspringen weglassen lassen auslassen ignorieren stort dagegen
  arrete arreter annule annuler attends attendre saute sauter ignore ignorer laisse laisser derange gene
  paro parar detengo detener cancelo cancelar espero esperar salto saltar omito omitir dejo dejar importa molesta`);
const ALTERNATIVE = wordSet('or oder ou o');
/** A sign that takes back the yes beside it. */
const DOUBTFUL_SIGN = /[👎❌🚫⛔🛑🙅✋🤔❓]/u;

/** Articles and pronouns, which refer to what the question names. Without marks, as `wordsOf` returns words. */
const PRONOUNS = wordSet(`
  it them this that these those they all both the a an i you me us we my your of to do
  es sie das die den dem der ihn ihm ich du wir mir dir alle beide
  le la les l ca cela ce je tu moi toi nous vous tout toutes tous
  lo los las eso esto yo tu me todo todos todas el ellos`);
/** Words by which a yes becomes less than a yes, or more than one. */
const LIMITS = wordSet(`
  if but only just when unless until though although instead otherwise later then and also plus too however maybe perhaps or
  wenn aber nur falls sobald bis außer ausser erst danach spater dann und auch sonst statt vielleicht oder
  si mais seulement quand sauf apres avant ensuite puis et aussi sinon jusqu peut ou
  pero solo cuando excepto salvo despues antes luego hasta y tambien sino quiza quizas o`);
const COORDINATIONS = /[,;/&]|\b(?:and|or|und|oder|et|ou|y|o|sowie|plus|then|dann|puis|luego)\b/u;
/** First words of a question that no yes answers. */
const OPEN_QUESTION =
  /^(?:what|which|who|whom|whose|where|when|why|how|was|welch\w*|wer|wen|wem|wo|wohin|wann|warum|wieso|wie|quel\w*|qui|que|quoi|ou|quand|pourquoi|comment|cual\w*|quien\w*|cuando|donde|como|cuant\w*)$/u;
const LIMITING_WORDS = new Set([...LIMITS, ...NEGATION_WORDS, ...NUMBER_AND_DATE_WORDS]);
const ENGLISH = /\b(?:shall|should|may|can|could|do|does|would|will|want|the|i|me)\b/u;
/** Words after which the question's verb stands. */
const SUBJECT = /^(?:i|we|to|ich|wir|je|on|nous|que|debo|puedo|quieres)$/u;
const VERB_PREFIX = /^(?:aus|ab|an|auf|ein|zu|vor|durch|weiter|um|mit|los|zuruck)(?=\p{L}{4})/u;
const VERB_ENDING = /(?:en|er|ez|es|ar|ir|as|e|o|a|t)?$/u;
const ENCLITIC = /(?<=\p{L}{4})(?:l[oae]s?|me)$/u;

/** Returns `yes` or `no` for a reply that says nothing else. `words` are normalized. */
export function verdictOf(words: readonly string[], question: string): 'yes' | 'no' | undefined {
  const asked = wordsOf(question);
  const assents = phrasesFor(asked, ASSENTS, GOING_ON);
  if (withoutPhrases(words, assents)?.length === 0) return 'yes';
  if (withoutPhrases(words, phrasesFor(asked, DENIALS, LEAVING))?.length === 0) return 'no';
  return echoes(words, question, assents) ? 'yes' : undefined;
}

/** Returns the phrases that are a verdict on the question. In an alternative, those in its words choose a part of it. */
function phrasesFor(
  asked: readonly string[],
  phrases: ReadonlySet<string>,
  ambiguous: ReadonlySet<string>,
): ReadonlySet<string> {
  const words = new Set(asked);
  const clear = words.isDisjointFrom(STOPPING) ? phrases : phrases.difference(ambiguous);
  if (words.isDisjointFrom(ALTERNATIVE)) return clear;
  return new Set([...clear].filter((phrase) => !phrase.split(' ').every((word) => words.has(word))));
}

/** Removes `phrases` and courtesies. Returns undefined if the words have none of `phrases`. */
function withoutPhrases(words: readonly string[], phrases: ReadonlySet<string>): string[] | undefined {
  const others: string[] = [];
  let hasPhrase = false;
  for (let at = 0; at < words.length; ) {
    const candidates = [PHRASE_WORDS_MAX, 2, 1].map((count) => words.slice(at, at + count));
    const phrase = candidates.find((one) => phrases.has(one.join(' ')) || COURTESIES.has(one.join(' ')));
    if (phrase === undefined) others.push(words[at] ?? '');
    else hasPhrase ||= phrases.has(phrase.join(' '));
    at += phrase?.length ?? 1;
  }
  return hasPhrase ? others : undefined;
}

/**
 * Reports whether a reply agrees in the words of a question that asks for one thing: an assent or the question's verb,
 * and beyond it only words of the question, pronouns and courtesies. A condition, number or negation makes it a reply
 * of its own.
 */
function echoes(words: readonly string[], question: string, assents: ReadonlySet<string>): boolean {
  const asked = wordsOf(question);
  if (
    asked.length === 0 ||
    asked.some((word) => NEGATION_WORDS.has(word)) ||
    OPEN_QUESTION.test(asked[0] ?? '') ||
    words.some((word) => DOUBTFUL_SIGN.test(word))
  )
    return false;
  const assented = withoutPhrases(words, assents);
  const rest = wordsOf((assented ?? withoutPhrases(['yes', ...words], assents) ?? words).join(' '));
  if (rest.some((word) => LIMITING_WORDS.has(word) || /\p{N}/u.test(word))) return false;
  const verbs = verbsOf(asked, ENGLISH.test(asked.join(' ')));
  const isVerb = (word: string) => verbs.has(word) || verbs.has(stemOf(word));
  if (assented === undefined && !isVerb(rest[0] ?? '')) return false;
  // Of two things that a question joins, an echo may choose one.
  const own = COORDINATIONS.test(question.toLowerCase()) ? new Set<string>() : new Set(asked);
  const mayEchoVerb = own.size > 0;
  return rest.every((word) => PRONOUNS.has(word) || own.has(word) || (mayEchoVerb && isVerb(word)));
}

/** Returns the words that may be the question's verb; if it is not English, their stems and separable prefixes too. */
function verbsOf(asked: readonly string[], isEnglish: boolean): ReadonlySet<string> {
  const verbs = asked.filter((_, at) => SUBJECT.test(asked[at - 1] ?? '') && !PRONOUNS.has(asked[at] ?? ''));
  if (isEnglish) return new Set(verbs);
  const all = [...verbs, asked[0] ?? '', asked.at(-1) ?? ''];
  const prefixed = all.flatMap((verb) => {
    const prefix = VERB_PREFIX.exec(verb)?.[0];
    return prefix === undefined ? [] : [prefix, stemOf(verb.slice(prefix.length))];
  });
  return new Set([...all, ...all.map(stemOf), ...prefixed]);
}

function stemOf(word: string): string {
  const verb = word.replace(ENCLITIC, '');
  return verb.length < 4 ? verb : verb.replace(VERB_ENDING, '');
}

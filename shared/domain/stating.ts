import { wordSet, wordsOf } from '../text/words.ts';
import { COMMON_WORDS, stemOf } from './facts/compare.ts';

/** Says that something holds from now on, or is new. */
const NOW =
  /(?<!\p{L})(?:now|since|these days|nowadays|from (?:now|this)|no longer|no more|instead|any ?more|took over|as of|after the|the [\p{L}-]+ (?:is|are) (?:on|in|at|with)|(?:is|are) (?:my|our|the) new|(?:my|our|the) new [\p{L}-]+ (?:is|are)|jetzt|inzwischen|mittlerweile|seit|nun|nur noch|nicht mehr|statt|stattdessen|ab sofort|(?:mein|unser|die|der|das)\p{L}* neue\p{L}?|maintenant|désormais|depuis|à présent|(?:mon|ma|notre|le|la) nouve(?:au|l|lle)|ahora|desde|ya no|en vez de|(?:mi|nuestr[oa]|el|la) nuev[oa])(?!\p{L})|^(?:new|neue\p{L}?|nouve(?:au|l|lle)|nuev[oa])\b|[现現]在|今は|ตอนนี้|ឥឡូវ/iu;
/** Says that something has got another value, and which: "We raised it to 12", "on est passés à Lyon". */
const TO_A_VALUE =
  /(?<!\p{L})(?:(?:moved|switched|changed|migrated|transferred|went|gone|renamed|raised|lowered|cut|reduced|increased|rose|dropped|grew|promoted|raise|upgraded|downgraded|extended|shortened|converted|relicensed|pushed|postponed|moved on) (?:[\p{L}\d'’-]+ ){0,5}?(?:to|into|in favou?r of)|(?:swapped|replaced|exchanged|traded) (?:[\p{L}\d'’-]+ ){1,4}?(?:for|with|by)|(?:umge|ge|ver|er)\p{L}+(?:t|en) auf|(?:auf|nach|zu|zur|zum|durch|gegen) (?:[\p{L}\d'’.,-]+ ){1,4}?(?:gewechselt|umgestiegen|umgezogen|gezogen|gelegt|verlegt|verschoben|gestiegen|gesunken|erhöht|gesenkt|angehoben|reduziert|gekürzt|verlängert|umbenannt|umgestellt|ersetzt|getauscht|gewachsen|befördert)|(?:pass[ée]\p{L}*|déménag\p{L}+|augment\p{L}+|baiss\p{L}+|rédui\p{L}+|renomm\p{L}+|migr[ée]\p{L}*|bascul\p{L}+|repouss\p{L}+|déplac\p{L}+) (?:[\p{L}\d'’-]+ ){0,3}?(?:à|au|aux|en|chez|sur|vers)|(?:remplac|chang|échang)\p{L}+ (?:[\p{L}\d'’-]+ ){1,3}?(?:par|pour|contre)|(?:mud|pas|cambi|sub|baj|aument|reduj|reduc|renombr|migr|traslad)\p{L}+ (?:[\p{L}\d'’-]+ ){0,4}?(?:a|por|al)|(?:reemplaz|sustitu)\p{L}+ (?:[\p{L}\d'’-]+ ){1,3}?por)(?!\p{L})/iu;
/** Says that something or somebody is given up, or gone. Much is: it tells of a value only beside its name. */
const GIVEN_UP =
  /(?<!\p{L})(?:sold|left|retired|died|dead|broke|closed|ended|gave up|given up|let (?:[\p{L}'’-]+ ){1,3}(?:go|lapse)|swapped|replaced|handed|dropped|cancelled|quit|stopped|switched|changed|moved|migrated|traded|returned|lapsed?|threw out|thrown out|outgrew|finished|deprecated|gone|shut|verkauft|gewechselt|gekündigt|verlassen|ersetzt|aufgehört|aufgegeben|abgegeben|geschlossen|in Rente|vendu|quitté|remplacé|arrêté|abandonné|fermé|partie?|retraite|résilié|vend(?:í|imos|ido)|cambi(?:é|amos|ado)|dej(?:é|amos|ado)|cerr(?:ó|ado)|jubil(?:ó|ado)|reemplaz\p{L}+)(?!\p{L})/iu;
const OWN_VALUE =
  /\b(?:my|our) (?:[\p{L}-]+ ){1,3}?(?:is|are|['’]s|(?!was)\p{L}+[^s\P{L}]s)\b|(?<!\p{L})(?:ich|wir|je|j['’]|nous|yo|(?:mein|unser)\p{L}* (?:\p{L}+ ){1,2}(?:ist|sind)|(?:mon|ma|notre) (?:\p{L}+ ){1,2}est|(?:mi|nuestr[oa]) (?:\p{L}+ ){1,2}es)(?!\p{L})|[我私僕ฉัน]|ខ្ញុំ/iu;
/** What somebody does, or has begun to do; not what they did once. */
const I_DO =
  /\b(?:I|we)(?:['’](?:m|re|ve)| am| are| have)? (?:also |just |always |usually |only |mostly )?(?:(?:(?:moved|switched|changed|migrated|cut|gone|started|dropped|replaced|sold|swapped)(?! (?:the|an?)\b)|joined|bought|got|raised|lowered|cancelled|rewrote|became)\b|(?!was\b|were\b|had\b|did\b|could\b|would\b|read\b|saw\b|lost\b|forgot\b|wrote\b|paid\b|found\b|broke\b|drew\b|heard\b|hid\b|sold\b|made\b|went\b|said\b|told\b|thought\b|knew\b|came\b|took\b|gave\b|ate\b|left\b|felt\b|met\b|ran\b|sat\b|spent\b|won\b|dreamt\b|think\b|need\b)(?!\p{L}+ed\b)\p{L})/iu;

/** Words of a question, in four languages, that do not say what it is about. */
const ASKING_WORDS = wordSet(`
  much many long often whose whom kind
  wer wen wem wessen wie wo was wann warum welche welcher welches welchen welchem viel viele lange oft wohin woher
  ich mein meine meinen meinem meiner mich mir wir uns unser unsere unseren unserem unserer der die das den dem des ein eine
  einen einem einer ist sind bin habe haben hat hast wird werden mit von bei fur auf aus nach zum zur und oder nutze nutzen
  benutze benutzen gehe gehen mache machen
  qui que quoi quel quelle quels quelles comment combien est sont suis ai avons mon mes notre nos nous une des les dans avec
  pour sur chez par utilise utilisons utiliser vais fais fait faire
  quien quienes cual cuales cuando como donde cuanto cuanta cuantos cuantas que mis nuestro nuestra nuestros nuestras son soy
  estoy tengo tenemos con por para los las una del uso usamos hago hacemos voy vamos`);

/** Finds stems of the words that tell what a text is about. */
export function topicsOf(text: string): Set<string> {
  const words = wordsOf(text).filter(
    (word) => word.length > 2 && !COMMON_WORDS.has(word) && !ASKING_WORDS.has(word),
  );
  return new Set(words.map(stemOf));
}

export const speaksOfChange = (text: string) => NOW.test(text) || TO_A_VALUE.test(text);
export const speaksOfEnd = (text: string) => speaksOfChange(text) || GIVEN_UP.test(text);
export const tellsValue = (text: string) => speaksOfChange(text) || OWN_VALUE.test(text) || I_DO.test(text);

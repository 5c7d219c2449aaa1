/** Beginnings of words that tell of health, beliefs, origin or sexuality (GDPR, article 9), or of an offence. */
const PERSONAL_WORDS =
  "diagnos(?:is|ed (?:with|as)|ti[cz]|e (?:von|gestellt)|e[ns]? (?:lautet|ist))|diagnostiqu|disease|illness|krank|malad|enferm(?!er[oa])|cancer|cáncer|krebs|diabet|diabèt|insulin|hiv|depress(?:i|ed|iv)|dépress|depresi|depresiv|anxiety|angststörung|anxiété|ansiedad|therapist|(?:psycho|chemo|radio|physio)therap|in therapy|therapeut|thérap|terapeut|terapia|medicat|medikament|médicament|medicament|prescri(?:bed|ption)|pregnan|schwanger|enceinte|embaraz|abortion|miscarriage|fehlgeburt|fausse couche|disabilit|i(?:[’']m| am) disabled|behinder|handicap|discapacid|surgery|tumou?r|biopsy|asthma|epilep|bipolar|autis|adhd|crohn|allerg|alerg|infertil|unfruchtbar|migr[aä]n|antidepress|psychiat|oncolog|onkolog|alcoholi|alkoholi|suicid|selbstmord|dialysis|dementia|alzheimer|parkinson|hepatitis|my (?:doctor|gp)|(?:mein|meine) (?:arzt|ärztin)|mon médecin|mi médico|hospitali[sz]|in (?:the )?hospital (?:for|since|until|with)|im krankenhaus|l[’']hôpital (?:pour|depuis)|sick leave|religi|kirche|église|iglesia|church|mosque|synagogue|muslim|musulm|moslem|christian|christlich|chrétien|cristian|jewish|jüdisch|juif|judí|hindu|buddhis|atheis|gay|lesbian|schwul|lesbisch|bisexual|transgender|sexual|trade union|gewerkschaft|syndicat|sindicato|voted?(?!\\p{L})|politic|partei|republican|democrat|ethnic|criminal|convicted";

/** Names of papers and dates that identify a person. */
const IDENTITY_WORDS =
  "passport(?!\\.|[ -]?(?:jwt|local|strategy))|social security|ssn(?!\\p{L})|national (?:id|insurance)(?!\\p{L})|(?:identity|id) cards?(?!\\p{L})|driv(?:er[’']?s|ing) licen[cs]e|date of birth|born on|maiden name|tax (?:id|number)|licen[cs]e plate|number plate|reisepass|personalausweis|ausweis(?:nummer)?(?!\\p{L})|führerschein|geboren am|geburtsdatum|geburtsname|mädchenname|sozialversicherung|steuer-?(?:id|nummer)|passeport|carte d[’']identité|permis de conduire|née? le(?!\\p{L})|date de naissance|nom de jeune fille|sécurité sociale|numéro fiscal|pasaporte|dni(?!\\p{L})|documento de identidad|carné de conducir|nac(?:í|id[oa]) el(?!\\p{L})|fecha de nacimiento|seguridad social";

const PERSONAL = new RegExp(`(?<!\\p{L})(?:${PERSONAL_WORDS})`, 'iu');
const IDENTITY = new RegExp(`(?<!\\p{L})(?:${IDENTITY_WORDS})`, 'iu');

const CURRENCY =
  '[\\p{Sc}]|(?<!\\p{L})(?:eur|euros?|usd|dollars?|bucks|gbp|pounds?|quid|chf|francs?|franken|yen|rupees?|pesos?|kronor|kroner|zloty)(?!\\p{L})';
const MONEY_WORDS =
  "salary|salaries|wages?(?!\\p{L})|income|earn|paid|pay(?:s|check|roll|ment|ing)?(?!\\p{L})|rent(?!\\p{L})|mortgage|debts?(?!\\p{L})|owe[sd]?(?!\\p{L})|loans?(?!\\p{L})|savings|inherit(?:ance|ed (?:\\d|from))|bonus|revenue|turnover|valuation|worth(?!\\p{L})|costs?(?!\\p{L})|price|fees?(?!\\p{L})|gehalt|gehälter|lohn|miete|verdien|einkommen|schulden|schulde(?!\\p{L})|kredit|hypothek|ersparnis|bezahl|kostet|preis|umsatz|honorar|salaire|loyer|gagn|revenu|dette|crédit|hypothèque|paye|coûte|prix|chiffre d[’']affaires|salario|sueldo|gano(?!\\p{L})|ganamos|alquiler|deuda|préstamo|hipoteca|ahorros|herencia|cobr[oa]|pago(?!\\p{L})|pagamos|cuesta|precio|ingresos";
const MONEY = new RegExp(`${CURRENCY}|(?<!\\p{L})(?:${MONEY_WORDS})`, 'iu');

const NUMBER_WORD =
  '(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\p{L}+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|millions?|billions?|grand|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\\p{L}*(?:zehn|zwanzig|dreißig|[rfsnt]zig|hundert|tausend|million)\\p{L}*|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|trente|quarante|cinquante|soixante|cents?|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien(?:to|tos|tas)?|\\p{L}+cient[oa]s|mil|mill[oó]n(?:es)?)';
const AMOUNT = new RegExp(
  `\\d(?:[\\d.,’'\\u00a0\\u202f ]{0,20}\\d)?\\p{L}{0,2}(?!\\p{L})|(?<!\\p{L})${NUMBER_WORD}(?:(?: |-| and | y | et )${NUMBER_WORD}){0,9}(?!\\p{L})`,
  'giu',
);

/** A dot inside a word or a number ends no sentence. */
const SENTENCE_END = /(?<=[.!?。！？](?=\s)|[\n。！？])/u;

/** Reports whether a text tells of what many people keep to themselves, such as their health. */
export function isPersonal(text: string): boolean {
  return PERSONAL.test(text);
}

/**
 * Replaces sentences about health, beliefs, origin or papers of identity, and the amounts in sentences about money. A
 * word alone would not do: what it tells stands in the words beside it.
 */
export function replaceSensitive(text: string, sentenceMarker: string, amountMarker: string): string {
  return text
    .split(SENTENCE_END)
    .map((sentence) => {
      if (isPersonal(sentence) || IDENTITY.test(sentence)) return sentenceMarker;
      return MONEY.test(sentence) ? sentence.replace(AMOUNT, amountMarker) : sentence;
    })
    .join('');
}

/** Replaces what is sensitive for a model, in the form of `maskSecrets`. */
export function maskSensitive(text: string): string {
  return replaceSensitive(text, '[masked words]', '[masked amount]');
}

import { changedToAbroad, TOPICS_ABROAD } from './topics-abroad.ts';

/** Matches a line in which `one` stands before `other`. A plain `one.*other` would take quadratic time. */
const patternInOrder = (one: string, other: string, flags: string) =>
  new RegExp(`^(?:(?!${one}).)*${one}.*${other}`, `m${flags}`);

/** `Call me Ada`, but not `Call me when it is done`. */
export const CALL_ME = String.raw`call me (?!(?:when|if|back|once|after|before|later|again|as|at|on|in|to|an?|the|for|about|with|by|soon|today|tonight|tomorrow|please|any\w*)\b)`;

/** A thing itself, but not what is named after it: `shell scripts`. */
const thing = (names: string) =>
  new RegExp(
    String.raw`(?<!\p{L})(?:${names})(?!\p{L})(?! (?:scripts?|tests?|tabs?|windows?|plugins?|extensions?|migrations?|commands?|settings?|history|queries|tables?)\b)`,
    'iu',
  );

/** Topics for which a person has one value at a time, with a pattern for the sentences about each. */
const TOPICS: readonly (readonly [slot: string, kind: string, about: RegExp])[] = [
  ['identity.name', 'identity', new RegExp(String.raw`\b(?:my name is\b|${CALL_ME}|i['’]?m called\b)`, 'i')],
  ['identity.pronouns', 'identity', /\bpronouns\b/i],
  [
    'identity.time_zone',
    'identity',
    /\bmy time ?zone is\b|\bI(?:['’]m| am) (?:now )?on (?!the\b|my\b|your\b|this\b)\S+ time\b/i,
  ],
  [
    'identity.city',
    'identity',
    new RegExp(
      [
        String.raw`\b[Ii] (?:now )?live (?:and work )?(?:in|at|near|on) (?!(?:an?|my|our|this|that|home|fear|peace)\b|the [a-z])`,
        String.raw`\b[Mm]y (?:home|home ?town|city) is\b|\b[Ii](?:['’]m| am) based in\b`,
        String.raw`\b(?:[Ii]|[Ww]e)(?:['’]ve| have)? (?:just )?relocated to [A-Z]`,
        String.raw`\b[Ii](?:['’]ve| have)? (?:just )?moved(?: from \S+)? to (?!a\b|an\b|the\b|\S+ (?:as|for)\b)\S+(?: \S+)? (?:in|last|this|two|three)\b`,
      ].join('|'),
    ),
  ],
  ['identity.role', 'identity', /\bI work as\b|\bmy (?:job|role|profession|title) is\b/i],
  [
    'identity.employer',
    'identity',
    new RegExp(
      [
        String.raw`\b[Ii] work (?:at|for) (?!(?:night|home|weekends?|lunch|money|fun|free|food|myself|now|it|that|this|my|our|hours|years)\b|(?:an?|the) [a-z])`,
        String.raw`\b[Mm]y (?:employer|company) is\b`,
        String.raw`\b[Ii](?:['’]ve| have)? (?:just )?(?:started|joined|begun)(?: work(?:ing)?)? (?:at|with)\b`,
      ].join('|'),
    ),
  ],
  ['project.current', 'project', /\bmy (?:current |main )?project\b|\bthe project\b/i],
  ['habit.merging', 'habit', /\b(?:pull|merge) requests?\b|\bmerge PRs\b/i],
  [
    'habit.deploy_day',
    'habit',
    patternInOrder(
      String.raw`\b(?:deploy(?:s|ing|ments?)?|releases? go(?:es)? out)\b`,
      String.raw`\b(?:\w+days?|mornings?|evenings?|weekends?)\b|\bday to deploy\b`,
      'i',
    ),
  ],
  ['habit.meetings', 'habit', /\bmeetings?\b/i],
  ['language.programming', 'preference', /\b(?:main|primary|favou?rite|programming) language\b/i],
  [
    'style.language',
    'style',
    patternInOrder(
      String.raw`\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|write|speak)\b`,
      String.raw` in \p{Lu}\p{Ll}`,
      'u',
    ),
  ],
  ['style.tone', 'style', /\b(?:your|the)? ?(?:answers?|replies|responses)\b|\btone\b/i],
  ['style.indentation', 'style', /\bindent(?:s|ed|ing|ation)?\b/i],
  ['style.quotes', 'style', /\b(?:single|double) quotes\b/i],
  ['style.commit_messages', 'style', /\bcommit messages?\b/i],
  ['tool.test_runner', 'preference', /\btest (?:runner|framework)\b|\brun (?:my |the |all )?tests? with\b/i],
  [
    'tool.package_manager',
    'preference',
    /\bpackage manager\b|\bpaketmanager\b|\bgestionnaire de paquets\b|\bgestor de paquetes\b|\binstall (?:the |my |all )?(?:packages|dependencies) with\b/i,
  ],
  [
    'tool.editor',
    'preference',
    thing(String.raw`editor|éditeur|(?<=\bedit (?:my |the )?)code in|(?<=\bmy )IDE`),
  ],
  ['tool.database', 'preference', thing('database|datenbank|base de données|base de datos')],
  ['tool.browser', 'preference', thing('browser|navigateur|navegador')],
  ['environment.shell', 'environment', thing('shell')],
  [
    'environment.system',
    'environment',
    thing(
      String.raw`operating system|(?<=\bmy )(?:OS|distro|distribution)|betriebssystem|système d['’]exploitation|sistema operativo`,
    ),
  ],
  ['preference.theme', 'preference', /\b(?:dark|light) (?:mode|theme)\b/i],
  ['preference.units', 'preference', /\b(?:metric|imperial)\b|\b(?:celsius|fahrenheit)\b/i],
  ['preference.drink', 'preference', /\bdrinks?\b/i],
  ['preference.diet', 'preference', /\b(?:vegetarian|vegan)\b/i],
];

/** What a person changed to, where its name alone tells the topic: `I switched to Zed`. */
const CHANGED_TO = String.raw`\b(?:switched|moved|gone|changed|migrated)(?: over)?(?: from [^,.;]{1,40}?)? to (?:using )?`;
/** `We use pnpm now`, `I type in fish these days`. */
const USING = String.raw`\b(?:I|we) (?:now )?(?:use|run|(?:type|code|work|write) in|browse with|install with|test with) `;
const changedTo = (names: string) =>
  new RegExp(
    String.raw`${CHANGED_TO}(?:${names})\b|${USING}(?:${names})\b.{0,40}\b(?:now|these days|since|from now on)\b|${changedToAbroad(names)}`,
    'iu',
  );
const CHANGES: typeof TOPICS = [
  ['tool.browser', 'preference', changedTo('firefox|chrome|chromium|safari|edge|vivaldi|brave|opera')],
  [
    'tool.editor',
    'preference',
    changedTo(
      'vim|neovim|emacs|vs ?code|visual studio|zed|sublime|intellij|webstorm|pycharm|helix|nano|notepad|cursor',
    ),
  ],
  [
    'tool.database',
    'preference',
    changedTo('postgres(?:ql)?|mysql|mariadb|sqlite|mongodb|oracle|cockroachdb'),
  ],
  ['environment.shell', 'environment', changedTo('bash|zsh|fish|nushell|powershell')],
  ['environment.system', 'environment', changedTo('linux|windows|macos|ubuntu|debian|fedora|arch|mint')],
  ['tool.package_manager', 'preference', changedTo('npm|pnpm|yarn|bun|pip|poetry|uv')],
  ['tool.test_runner', 'preference', changedTo('jest|vitest|mocha|pytest|unittest|ava')],
];

export function topicOf(sentence: string): { slot: string; kind: string } | undefined {
  const topic = [...CHANGES, ...TOPICS, ...TOPICS_ABROAD].find(([, , about]) => about.test(sentence));
  return topic && { slot: topic[0], kind: topic[1] };
}

/** Phrases in which a sentence names its own topic: `My favourite colour is green`, `I use Vim as my editor`. */
const MY_TOPIC_IS =
  /(?<!\p{L})(?:[Mm]y|[Oo]ur) ((?:[\p{L}-]+ ){0,2}[\p{L}-]+?) (?:is|are)\b|(?<!\p{L})(?:[Mm]eine?|[Uu]nsere?|[Mm]on|[Mm]a|[Nn]otre|[Mm]i|[Nn]uestr[oa]) ((?:[\p{L}-]+ ){0,2}[\p{L}-]+?) (?:ist|est|es)(?: (?:jetzt|nun|seit \S+|maintenant|désormais|ahora))? (?=(?:der|die|das|eine?|le|la|el|une?|una)(?!\p{L})|l['’]|\S{0,20}[\p{Lu}\p{N}])/u;
const AS_MY_TOPIC =
  /(?<!\p{L})as (?:my|our) ((?:[\p{L}-]+ )?[\p{L}-]+)|(?<!\p{L})(?:nutzen?|benutzen?|verwenden?) \S+ als ([\p{L}-]+)|(?<!\p{L})(?:utilise|utilisons) \S+ comme ((?:[\p{L}-]+ de )?[\p{L}-]+)|(?<!\p{L})(?:uso|usamos|utilizo|utilizamos) \S+ como ((?:[\p{L}-]+ de )?[\p{L}-]+)/iu;
const UNSPECIFIC_WORD =
  /^(?:current|new|old|own|main|only|usual|default|primary|favou?rite|preferred|web|code|text|ahora|neue?r?)$/i;
/** `My editor is slow`: what the thing is like, not which it is. */
export const MY_TOPIC_IS_LIKE = new RegExp(
  [
    String.raw`^(?:(?:[Aa]nd|[Bb]ut|[Aa]lso|[Ss]o),? )*(?:[Mm]y|[Oo]ur) (?:[\p{L}-]+ ){0,3}?(?:is|are) `,
    '(?:(?:very|so|too|quite|really|pretty|rather|still|always|often|just|a bit|a little) )*',
    '(?:(?:on|in|at|off|out|up|down|under|over|with|without|from|for|to|about|by|like) [a-z]|(?:on|off|out|up|down)[.!]?$|',
    String.raw`(?!called\b|named\b)\p{L}{3,}(?:ed|ful|less|ous|able|ible)(?!\p{L})|`,
    '(?:slow|fast|open|closed|ready|busy|free|full|empty|asleep|awake|away|done|gone|late|early|better|worse|good|great|',
    'bad|nice|fine|ok|okay|big|small|huge|tiny|hard|easy|safe|dirty|clean|boring|stable|here|there|missing|broken|frozen|',
    'tired|sick|ill|weird|strange|wrong|right|important|expensive|cheap|four|five|six|seven|\\d+ years old)(?!\\p{L}))',
  ].join(''),
  'u',
);

/** Topics whose patterns match only sentences with a value. */
const ALWAYS_A_VALUE = /^(?:identity\.|style\.language$)/;
/** Verbs with which people choose a value. */
const CHOICE =
  /\b(?:(?:use|prefer|deploy|drink|write|indent|merge|speak|install|edit|run|want|keep)s?|(?:switched|moved|changed|migrated|gone|replaced|type|code|write)|I(?:['’]m| am)|works? on|(?:takes?|have) (?:my )?meetings|like \S+ to be|releases? go(?:es)? out|umgestiegen|gewechselt|migriert|ersetzt|getauscht|jetzt|passée?s?|migré|basculé|remplacé|troqué|abandonné|quitté|cambiado|pasado|migrado|sustituido|reemplazado|dejado|ahora)(?!\p{L})/iu;
const NEGATION = /\b(?:never(?! else)|not|no(?! longer))\b|n['’]t\b/i;
const IS_MY_TOPIC = /\b(?:is|are) (?:my|our)\b/i;
/** The thing itself, not a choice of one: `I test in the browser`. */
const ANY_SUCH_THING =
  /(?<!\bas )\b(?:the|an?|(?:in|on|with|from|for|to|of) (?:my|our)) (?:browser|database|editor|shell)\b/i;
/** `The database is on PostgreSQL 16 now`: one that everybody knows, and its value. */
const THE_TOPIC_IS =
  /^the (?:browser|database|editor|shell|package manager|test runner) (?:is|runs) (?:now )?(?:on |in |called )?\p{Lu}/iu;

/** A sentence that only mentions a topic, or says what is never done, leaves the topic's value as it is. */
function statesValue(sentence: string): boolean {
  if ([MY_TOPIC_IS, AS_MY_TOPIC, IS_MY_TOPIC, THE_TOPIC_IS].some((names) => names.test(sentence)))
    return true;
  return CHOICE.test(sentence) && !NEGATION.test(sentence) && !ANY_SUCH_THING.test(sentence);
}

/**
 * Returns the topic whose value the sentence states: a known one, or one that the sentence names: `own.colour`, for `My
 * favourite colour is green`.
 */
export function slotOf(sentence: string): string | null {
  if (MY_TOPIC_IS_LIKE.test(sentence)) return null;
  const known = topicOf(sentence)?.slot;
  const named = namedTopicIn(sentence);
  if (known === undefined) return named === undefined ? null : `own.${named}`;
  if (!ALWAYS_A_VALUE.test(known) && !statesValue(sentence)) return null;
  // Somebody may have a test browser beside the browser.
  const isOneOfSeveral = known.startsWith('tool.') && named?.endsWith(`_${known.slice('tool.'.length)}`);
  return isOneOfSeveral ? `own.${named}` : known;
}

function namedTopicIn(sentence: string): string | undefined {
  const [, ...names] = MY_TOPIC_IS.exec(sentence) ?? AS_MY_TOPIC.exec(sentence) ?? [];
  const topicWords = names
    .find((name) => name !== undefined)
    ?.toLowerCase()
    .split(' ');
  const words = topicWords?.filter(
    (word, place) => (place === topicWords.length - 1 && place === 0) || !UNSPECIFIC_WORD.test(word),
  );
  return words === undefined || words.length === 0 ? undefined : words.join('_');
}

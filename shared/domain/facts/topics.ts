/** Matches a line in which `one` stands before `other`. A plain `one.*other` would take quadratic time. */
const patternInOrder = (one: string, other: string, flags: string) =>
  new RegExp(`^(?:(?!${one}).)*${one}.*${other}`, `m${flags}`);

/** `Call me Ada`, but not `Call me when it is done`. */
export const CALL_ME = String.raw`call me (?!(?:when|if|back|once|after|before|later|again|as|at|on|in|to)\b)`;

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
    /\bI (?:now )?live (?:and work )?(?:in|at|near|on)\b|\bmy (?:home|home ?town|city) is\b|\bI(?:['’]m| am) based in\b|\bI(?:['’]ve| have)? (?:just )?moved(?: from \S+)? to (?!a\b|an\b|the\b|\S+ (?:as|for)\b)\S+(?: \S+)? (?:in|last|this|two|three)\b/i,
  ],
  ['identity.role', 'identity', /\bI work as\b|\bmy (?:job|role|profession|title) is\b/i],
  [
    'identity.employer',
    'identity',
    /\bI work (?:at|for)\b|\bmy (?:employer|company) is\b|\bI(?:['’]ve| have)? (?:just )?(?:started|joined|begun)(?: work(?:ing)?)? (?:at|with)\b/i,
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
    /\bpackage manager\b|\binstall (?:the |my |all )?(?:packages|dependencies) with\b/i,
  ],
  ['tool.editor', 'preference', /\beditor\b|\bedit (?:my |the )?code in\b|\bmy IDE\b/i],
  ['tool.database', 'preference', /\bdatabase\b/i],
  ['tool.browser', 'preference', /\bbrowser\b/i],
  ['environment.shell', 'environment', /\bshell\b/i],
  ['environment.system', 'environment', /\boperating system\b|\bmy (?:OS|distro|distribution)\b/i],
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
    String.raw`${CHANGED_TO}(?:${names})\b|${USING}(?:${names})\b.{0,40}\b(?:now|these days|since|from now on)\b`,
    'i',
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
  const topic = [...TOPICS, ...CHANGES].find(([, , about]) => about.test(sentence));
  return topic && { slot: topic[0], kind: topic[1] };
}

/** Phrases in which a sentence names its own topic: `My favourite colour is green`, `I use Vim as my editor`. */
const MY_TOPIC_IS = /\b(?:my|our) ((?:[\p{L}-]+ ){0,2}[\p{L}-]+?) (?:is|are)\b/iu;
const AS_MY_TOPIC = /\bas (?:my|our) ((?:[\p{L}-]+ )?[\p{L}-]+)/iu;
const UNSPECIFIC_WORD = /^(?:current|new|old|own|main|only|favou?rite|preferred)$/i;

/** Topics whose patterns match only sentences with a value. */
const ALWAYS_A_VALUE = /^(?:identity\.|style\.language$)/;
/** Verbs with which people choose a value. */
const CHOICE =
  /\b(?:(?:use|prefer|deploy|drink|write|indent|merge|speak|install|edit|run|want|keep)s?|(?:switched|moved|changed|migrated|gone|replaced|type|code|write)|I(?:['’]m| am)|works? on|(?:takes?|have) (?:my )?meetings|like \S+ to be|releases? go(?:es)? out)\b/i;
const NEGATION = /\b(?:never(?! else)|not|no(?! longer))\b|n['’]t\b/i;
const IS_MY_TOPIC = /\b(?:is|are) (?:my|our)\b/i;
/** The thing itself, not a choice of one: `I test in the browser`. */
const ANY_SUCH_THING = /(?<!\bas )\b(?:the|an?) (?:browser|database|editor|shell)\b/i;
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
  const known = topicOf(sentence)?.slot;
  if (known !== undefined) return ALWAYS_A_VALUE.test(known) || statesValue(sentence) ? known : null;
  const topicWords = (MY_TOPIC_IS.exec(sentence) ?? AS_MY_TOPIC.exec(sentence))?.[1]
    ?.toLowerCase()
    .split(' ');
  const words = topicWords?.filter(
    (word, place) => place === topicWords.length - 1 || !UNSPECIFIC_WORD.test(word),
  );
  return words === undefined || words.length === 0 ? null : `own.${words.join('_')}`;
}

import { plainOf, toLatin } from '../../text/plain.ts';

/*
 * Texts written by others may try to dictate a reply in the person's name. The patterns below cannot be complete; they
 * are only one of several guards (docs/replies.md). They err on the safe side: memory that they match is withheld, and
 * a prediction for a prompt that they match is never `auto`.
 */

const SAY = '(?:say(?:s|ing)?|answer(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|respond(?:s|ed|ing)?)';
const AGREE = '(?:approve|accept|agree|confirm|consent|authori[sz]e|allow|proceed)';
const PERSON =
  '(?:users?|person|human|owner|operator|customer|client|account holder|developer|maintainer|he|she|they|everyone)';
const MODAL =
  "(?:will|would|must|should|shall|(?:is |are )?going to|expected to|wants? to|has to|always|invariably|certainly|definitely|surely|'ll)";
const ASSENT =
  '(?:yes|yep|yeah|no|ok|okay|y|n|approved?|confirm(?:ed)?|proceed|continue|agreed?|accept(?:ed)?|go ahead|lgtm|sure|do it)';
/** Quotation marks, but not backtick and apostrophe, which are common in messages about code. */
const QUOTE = '["“”„«»‹›「」『』]';
const ANY_QUOTE = '["\'“”„‘’«»`‹›「」『』]';

/** Excludes a match after a word for software: "the server answers with ..." dictates no reply. */
const NOT_AFTER_PROGRAM =
  '(?<!\\b(?:bot|api|server|service|app|application|endpoint|command|page|handler|route|backend)\\b[^.\\n]{0,40})';
/** Excludes a match after an adjective: in "short answer: yes", the agent answers its own question. */
const NOT_AFTER_ADJECTIVE = '(?<!\\b(?:short|quick|brief|direct|simple|long|honest) )';

/** Texts that dictate a reply, say what the person will reply, or set a rule for replies. */
const DICTATION_PATTERNS = [
  `${NOT_AFTER_PROGRAM}\\b(?:reply|respond|answer)\\s+(?:only |just |simply |exactly |back )*(?:with|by)\\b`,
  `${NOT_AFTER_PROGRAM}(?:\\b(?:reply|respond|answer)(?!\\s+to (?:your|the|an?|my)\\b)|(?:(?:^|[.!?:\\n] ?)|\\b(?:to|must|should|please|and|then|just|only) )say)\\b[\\s:,(]{1,3}(?:[\\p{L}']{1,20}\\s+){0,3}?${QUOTE}`,
  `${NOT_AFTER_ADJECTIVE}\\b(?:reply|respond|answer|say|type|enter|output)\\b[\\s:,]{0,3}(?!no [a-z]|[a-z]{1,2}-[a-z])(?:(?:back|exactly|only|just|simply|with|nothing but|the word)[\\s:]+){0,3}${ANY_QUOTE}?${ASSENT}\\b`,
  `\\b(?:return|write|send) (?:back )?(?:exactly|only|just|simply|nothing but|the word)[\\s:]+${ANY_QUOTE}?${ASSENT}\\b`,
  `\\b(?:reply|respond|answer|say)\\s+(?:back )?(?:exactly|only|just|simply|nothing but)\\b`,
  `${NOT_AFTER_ADJECTIVE}\\b(?:reply|respond|answer|say|choose|pick|select)(?:\\s+(?:with|a|an|the|clear|simple|loud|to this|as follows|now))*[\\s:=]+${ASSENT}\\b`,
  `\\b(?:your|his|her|their|my) (?:only |next |final |correct |expected |right |desired |proper |best |one )*(?:answer|reply|response) (?:here |to this |now )?(?:is|are|must|should|shall|will|ought|reads|=)\\b`,
  `\\bthe (?:next |final |only )?(?:answer|reply) (?:here |to this |now )?(?:is|must be|should be|shall be|will be|reads|=)[\\s:]+${ANY_QUOTE}?${ASSENT}\\b`,
  `\\b(?:correct|expected|right|only|desired|proper|valid|acceptable|predicted|mandatory|required) (?:answer|reply)\\b.{0,20}\\b(?:is|=|must)`,
  `\\b${PERSON}\\b(?: (?:has|have|here|of this))?\\s*(?:is )?${MODAL}(?:\\s+(?:\\w+ly|to|also|always|just|simply|of course)){0,3}\\s+(?:${SAY}|${AGREE})\\b(?! (?:\\w+ing|before)\\b)`,
  `\\balways ${SAY}\\b`,
  `\\b(?:always|automatically|blindly|unconditionally|immediately) (?!confirm\\b(?! (?:it|this|all|any|every\\w*)\\b))${AGREE}\\b(?! (?:to|with)\\b)`,
  '\\b(?:always|blindly|unconditionally) (?:click|choose|pick|select)\\b',
  `\\b(?:approves?|agrees?|says? yes|yes)\\b(?: to| with)? (?:everything|anything|all|any|every|whatever|each)\\b`,
  `\\b(?:whenever|every time|each time|any ?time|if|when|once)\\b(?! you (?:still )?(?:don.t|do not) see)[^.\\n]{0,60}\\b(?:ask(?:s|ed)?|prompt(?:s|ed)?|questions?|sees?|reads?)\\b[^.\\n]{0,60}(?<!\\b(?:might|could) )\\b(?:${SAY}|${AGREE}|yes)\\b`,
  `\\b(?:remember|memori[sz]e|keep in mind|note)\\b[^.\\n]{0,40}\\b(?:always|every|whenever|in (?:the )?future|from now)\\b[^.\\n]{0,40}\\b(?:${SAY}|${AGREE}|yes)\\b`,
  `\\b(?:put|fill in|insert|use|copy|echo|repeat)\\b.{0,40}\\b(?:as|in|into|for|verbatim|word for word)\\b.{0,30}\\b(?:answer|reply|response|candidate|verbatim)`,
  `${NOT_AFTER_ADJECTIVE}\\b(?:answer|reply|verdict|decision)\\s*[:=]\\s*${ANY_QUOTE}?\\s*${ASSENT}\\b`,
  `\\breplywith(?!out)|\\brespondwith(?!out)|\\banswerwith(?!out)|userwill(?:say|answer|reply|approve)|ignore(?:all)?(?:previous|prior|above)`,
];

/** Texts in other languages, written without accents, that dictate a reply or say what the person will reply. */
const FOREIGN_DICTATION_PATTERNS = [
  `\\b(?:antworte[nt]?|antwort|sage?n?|schreibe?n?)\\b.{0,40}(?:\\bmit\\b|${QUOTE}|\\bnur\\b|\\bja\\b|\\bgenau\\b)`,
  '\\b(?:benutzer|nutzer|anwender|mensch|person)(?:in)?\\b.{0,20}\\b(?:wird|soll|muss|wurde)\\b.{0,20}\\b(?:sagen|antworten|zustimmen)|\\b(?:be)?nutzer(?:in)? (?:sagt|antwortet|stimmt)\\b',
  '\\b(?:ignoriere?n?|vergiss)\\b.{0,40}(?:anweisung|regel|oben|vorherig|bisherig)|\\bantwort (?:ist|lautet|muss)\\b',
  `\\b(?:repond[sez]*|dites(?!.moi (?:si|ce|quand|comment|pourquoi|ou|quel)\\b)|ecri[svez]+)\\b.{0,40}(?:\\bpar\\b|\\bavec\\b|${QUOTE}|\\boui\\b)`,
  'l.utilisat(?:eur|rice)\\b.{0,20}\\b(?:dira|repondra|acceptera)\\b|\\b(?:ignore[zs]?|oublie[zs]?) (?:les|toutes|tes|vos)\\b',
  `\\b(?:respond[ea]|contest[ea]|diga)\\b.{0,40}(?:\\bcon\\b|${QUOTE}|\\bsi\\b|\\bsolo\\b)`,
  '\\b(?:el usuario|la usuaria|o usuario|l.utente)\\b.{0,20}\\b(?:dira|respondera|aceptara|contestara|rispondera|accettera)',
  '\\b(?:ignor[aei]|olvida|esqueca|dimentica) (?:las?|todas?|os?|as|le|tutte|tudo)\\b.{0,30}\\b(?:instruc|istruz|regl|regol|regr)',
  `\\b(?:rispond[iae]|responda|antwoord|odpowiedz|yanitla|cevap ver)\\b.{0,40}(?:\\bcom\\b|\\bmet\\b|${QUOTE}|\\bsolo\\b|\\balleen\\b|\\bsi\\b|\\bsim\\b|\\bja\\b|\\btak\\b|\\bevet\\b)|\\bgebruiker\\b.{0,15}\\b(?:zal|moet)\\b`,
  '(?:ответь|ответьте|скажи|скажите)(?![а-я]).{0,20}(?:(?<=[\\s:,(])["«„“]|да(?![а-я]))|пользователь.{0,20}(?:ответит|скажет|согласится)|игнориру[ий] (?:все|пред|эти)',
  '(?:回答|回复|答复|回覆|答覆)(?:我)?[:：]?(?:["“”「『]|是[。"”」]|同意|好[的。"”」]|可以[。"”」]|批准)|(?:用户|使用者|用戶).{0,4}(?:会|會|将|將|一定|必须|总是|總是|应该)(?:说|說|回答|同意|批准|回复)|忽略.{0,10}(?:指令|指示|规则)',
  '[」』"]と(?:答え|返信|回答|返答)|ユー[ザサ]ー.{0,14}(?:と答え|同意し|承認し|と言い)|(?:指示|命令).{0,6}無視|無視.{0,6}(?:指示|命令)',
  '(?:라고|으로|로) ?(?:답하|대답|응답하)|사용자.{0,14}(?:동의합|승인합|라고 말)|(?:지시|명령).{0,6}무시',
  'اجب ب|رد ب|المستخدم س|تجاهل',
];

/** Commands to the model, and texts that imitate another author or the end of the data, or claim an approval. */
const COMMAND_PATTERNS = [
  `\\b(?:ignore|disregard|forget|override|bypass|discard|supersede|suspend) (?:all|any|every(?:thing)?|the|these|those|your|its|previous|prior|above|earlier)\\b.{0,30}\\b(?:instructions?|rules?|guidelines?|prompts?|above|safety|polic(?:y|ies)|calibration)\\b`,
  `\\b(?:new|updated|revised|actual|hidden|secret) (?:system |developer )?(?:instructions?|directives?|orders?)\\s*:|\\b(?:developer mode|jailbreak|do anything now|you are now (?:an?|the|dan|free|unrestricted|acting|operating|playing))\\b`,
  `\\b(?:pretend (?:to be|that|you|the)|act as (?:if|though|the (?:user|person|human))|role-?play|impersonate)\\b`,
  `<\\/\\s*(?:system|assistant|human|instructions?|record|memory|data|rules|context|prompt)\\b[^>]{0,80}>|<\\s*(?:system|instructions|record|memory)>`,
  `<\\|[a-z_]{2,30}\\|>|\\[\\/?(?:inst|sys)\\]|<<\\/?sys>>`,
  `(?:^|\\n)[\\s#>*_-]{0,6}(?:system|assistant|developer|user|human|admin(?:istrator)?|person|owner|me|root|operator)(?: (?:message|prompt|note|override|notice|reply|response|answer|instruction))?[*_]{0,2}: ?[^\\n]{0,40}\\b(?:${ASSENT}|repl(?:y|ies)|answers?)\\b`,
  `\\bend of (?:the )?(?:record|data|prompt|memory|input|context|document|message|transcript|untrusted)\\b|\\b(?:begin|start) (?:of )?(?:new |the )?(?:system|trusted|instructions?)\\b`,
  `\\b(?:already|pre-?|previously|explicitly|hereby|fully) ?(?:been )?(?:approved?|authori[sz]ed?|agreed|consented|signed off|granted)\\b`,
  `\\bon behalf of (?:the |your )?(?:user|person|owner|account)\\b|\\bin the (?:user|person|owner)'?s name\\b`,
  `\\b(?:no|without|not|skip(?:ping)?|never) (?:further |any |need(?:ed|ing)? |requir(?:e|es|ed|ing) |explicit |human |manual |more |ask(?:ing)? (?:for )?|wait(?:ing)? for )*(?:confirmation|approval|permission|review|consent|escalation)\\b(?! (?:message|dialog|prompt|banner|e-?mail|screen|page|modal|popup|step))`,
  `\\b(?:approval|permission|consent|authori[sz]ation)\\b.{0,20}\\b(?:granted|given|implied|assumed|on file|not (?:needed|required)|in place)\\b|\\bsilence (?:means|is|counts)\\b`,
  `\\b(?:auto|automatic(?:ally)?)[- ]?(?:approve|accept|reply|confirm|answer|respond)\\b|\\b(?:never|not|don.t|do not) escalate\\b`,
];

/** Texts that imitate the format of the model's answer, or set the confidence. */
const ANSWER_FORMAT_PATTERNS = [
  `\\bcandidates"?\\s*[:=]\\s*\\[|\\b(?:none_of_these|needs_unknown_fact|predicted_response|needsunknownfact)\\b\\W{0,4}[:=\\[]`,
  `\\balmost_certain\\b`,
  `\\bset (?:the |your |its )?status to ${ANY_QUOTE}?(?:auto|approved|accepted)\\b`,
  `\\b(?:set|use|report|give|state|raise|put)\\b[^.\\n]{0,20}\\b(?:confidence|likelihood|probability|certainty) (?:of|as|to|at) ${ANY_QUOTE}?(?:high|max|full|certain|almost|1\\b|100|0?\\.9)`,
  `\\b(?:confidence|likelihood|certainty)\\s*[:=]\\s*(?:(?:1(?:\\.0+)?|100 ?%?)(?![\\d.])|0?\\.9\\d*(?![\\d.]|\\s*[\`}]|,\\s*\\n))`,
  `\\b(?:maximum|max|highest|full|absolute|complete|total|100 ?%|one hundred percent)\\s+(?:confidence|certainty|likelihood|probability)\\b`,
];

/**
 * Reasons in which a model says that it follows a command. `DICTATION_PATTERNS` are not used on reasons, because a
 * reason may say what the person would answer.
 */
const OBEDIENCE_PATTERNS = [
  `\\b(?:as|per) (?:the )?(?:instruct(?:ed|ions?)|ordered|commanded|directed|told|requested|dictated|demanded|required)\\b`,
  `\\b(?:prompt|agent|message|text|record|memory|fact|note|instructions?|episode|profile|it|row|block)\\b.{0,15}\\b(?:tells?|told|instructs?|instructed|dictates?|dictated|demands?|demanded|orders?|ordered|commands?|commanded|says to|said to|insists?|specif(?:y|ies|ied) (?:the|an?) (?:answer|reply|response))\\b`,
  `\\b(?:i|we)(?: must| have to| need to| am| are| was| were)?(?: told| instructed| ordered| asked| required| commanded| supposed| obliged)\\b|\\bi (?:must|have to)\\b`,
  `\\b(?:following|obeying|complying with|according to|given|because of|due to) (?:the |these |this |its |an? )?(?:explicit |embedded |system |new )?(?:instructions?|orders?|commands?|directives?|system|injection|override)\\b`,
  `\\binject(?:ed|ion)\\b`,
];

const compileAll = (sources: readonly string[]) => sources.map((source) => new RegExp(source, 'u'));
const PATTERNS_FOR_TEXTS = compileAll([
  ...DICTATION_PATTERNS,
  ...FOREIGN_DICTATION_PATTERNS,
  ...COMMAND_PATTERNS,
  ...ANSWER_FORMAT_PATTERNS,
]);
const PATTERNS_FOR_REASONS = compileAll([
  ...COMMAND_PATTERNS,
  ...ANSWER_FORMAT_PATTERNS,
  ...OBEDIENCE_PATTERNS,
]);

/** Reports whether a text dictates a reply, or gives a command to the model that predicts the reply. */
export function isDictation(text: string): boolean {
  return matchesAny(text, PATTERNS_FOR_TEXTS);
}

/** Reports whether a model's reason for a reply shows that the model followed a command. */
export function isObedient(reasoning: string): boolean {
  return matchesAny(reasoning, PATTERNS_FOR_REASONS);
}

function matchesAny(text: string, patterns: readonly RegExp[]): boolean {
  const readings = readingsOf(text);
  return patterns.some((pattern) => readings.some((reading) => pattern.test(reading)));
}

const DIGIT_LETTERS = new Map(
  [...'0o1i3e4a5s7t@a$s!i'].flatMap((sign, at, all) =>
    at % 2 === 0 ? [[sign, all[at + 1] ?? ''] as const] : [],
  ),
);
/** Maximum length of a text that is also read backwards and by ROT13. Instructions hidden in these ways are short. */
const HIDDEN_CHARS_MAX = 4000;
const BASE64_RUN = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
const HEX_RUN = /(?:[0-9a-f]{2}[\s:]?){8,}/gi;

/** Returns the text in lower case without diacritics, and versions of it with obfuscation undone. */
function readingsOf(text: string): string[] {
  const plain = plainOf(text);
  const decoded = decodedRunsIn(text).map(plainOf);
  const latin = toLatin(plain);
  const withoutDigits = latin.replaceAll(/[0-9@$!]/g, (sign) => DIGIT_LETTERS.get(sign) ?? sign);
  const hidden = plain.length <= HIDDEN_CHARS_MAX ? [rot13(plain), [...plain].reverse().join('')] : [];
  return [...new Set([plain, latin, withoutDigits, joinSpacedLetters(plain), ...hidden, ...decoded])];
}

/** Turns `r e p l y` or `r.e.p.l.y` into `reply`. */
function joinSpacedLetters(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}])(?:\p{L}[ .*_|-]){3,}\p{L}(?![\p{L}\p{N}])/gu, (run) =>
    run.replaceAll(/[ .*_|-]/g, ''),
  );
}

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97),
  );
}

function decodedRunsIn(text: string): string[] {
  const base64 = (text.match(BASE64_RUN) ?? []).map((run) => Buffer.from(run, 'base64').toString('utf8'));
  const hex = (text.match(HEX_RUN) ?? []).map((run) =>
    Buffer.from(run.replaceAll(/[\s:]/g, ''), 'hex').toString('utf8'),
  );
  return [...base64, ...hex].filter(
    (one) => /^[\p{L}\p{N}\p{P}\p{S}\s]{8,}$/u.test(one) && !one.includes('\ufffd'),
  );
}

import { readingsOf } from './disguise.ts';

/*
 * Texts that others wrote may try to dictate a reply in the person's name. No list of patterns is complete; this one is one
 * of several guards (docs/replies.md), and errs on the safe side: what it finds is never sent automatically.
 */

const SAY = '(?:say(?:s|ing)?|answer(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|respond(?:s|ed|ing)?)';
const AGREE = '(?:approve|accept|agree|confirm|consent|authori[sz]e|allow|proceed|click|choose|pick|select)';
const PERSON =
  '(?:users?|person|human|owner|operator|customer|client|account holder|developer|maintainer|he|she|they|i|everyone)';
const ASSENT =
  '(?:yes|yep|yeah|no|ok|okay|y|n|approved?|confirm(?:ed)?|proceed|continue|agreed?|accept(?:ed)?|go ahead|lgtm|sure|do it)';
const QUOTE = '["\'“”„‘’«»`‹›「」『』]';

/** Dictates a reply, says what the person will reply, or plants a rule about it. */
const DICTATES = [
  `\\b(?:repl(?:y|ying)|respond(?:ing)?|answer(?:ing)?)\\s+(?:only |just |simply |exactly |back )*(?:with|by)\\b`,
  `\\b(?:reply|respond|answer|say|type|enter|output)\\b[\\s:,(]{0,3}(?:\\S{1,200}\\s+){0,5}?${QUOTE}`,
  `\\b(?:reply|respond|answer|say|type|enter|output|return|write|send)\\s+(?:back )?(?:exactly|only|just|simply|nothing but|the word)\\b`,
  `\\b(?:reply|respond|answer|say|type|enter|choose|pick|select)(?:\\s+(?:with|a|an|the|clear|simple|loud|to this|as follows|now))*[\\s:=]+${ASSENT}\\b`,
  `\\b(?:your|the|his|her|their|my) (?:only |next |final |correct |expected |right |desired |proper |best |one )*(?:answer|reply|response|output) (?:here |to this |now )?(?:is|are|must|should|has|shall|will|ought|needs|reads|=)\\b`,
  `\\b(?:correct|expected|right|only|desired|proper|valid|acceptable|predicted|mandatory|required) (?:answer|reply|response|output)\\b`,
  `\\b${PERSON}\\b.{0,40}\\b(?:will|would|must|should|shall|going to|expected to|wants? to|has to|always|invariably|certainly|definitely|surely|'ll)\\b.{0,25}\\b(?:${SAY}|${AGREE}\\b(?! \\w+ing))`,
  `\\balways ${SAY}\\b`,
  `\\b(?:always|automatically|blindly|unconditionally|immediately) ${AGREE}\\b`,
  `\\b(?:approves?|accepts?|agrees?|confirms?|allows?|says? yes|yes)\\b(?: to| with)? (?:everything|anything|all|any|every|whatever|each)\\b`,
  `\\b(?:whenever|every time|each time|any ?time|if|when|once)\\b.{0,60}\\b(?:ask(?:s|ed)?|prompt(?:s|ed)?|questions?|sees?|reads?)\\b.{0,60}\\b(?:${SAY}|${AGREE}|yes)\\b`,
  `\\b(?:remember|memori[sz]e|keep in mind|store|save|learn|note)\\b.{0,40}\\b(?:always|every|whenever|in (?:the )?future|from now)\\b`,
  `\\b(?:put|fill in|insert|use|copy|echo|repeat)\\b.{0,40}\\b(?:as|in|into|for|verbatim|word for word)\\b.{0,30}\\b(?:answer|reply|response|candidate|verbatim)`,
  `\\b(?:answer|reply|response|verdict|decision)\\s*[:=]\\s*${QUOTE}?\\s*${ASSENT}\\b`,
  `\\breplywith(?!out)|\\brespondwith(?!out)|\\banswerwith(?!out)|userwill(?:say|answer|reply|approve)|ignore(?:all)?(?:previous|prior|above)`,
];

/** The same in other languages, without accents. */
const DICTATES_ABROAD = [
  `\\b(?:antworte[nt]?|antwort|sage?n?|schreibe?n?)\\b.{0,40}(?:\\bmit\\b|${QUOTE}|\\bnur\\b|\\bja\\b|\\bgenau\\b)`,
  '\\b(?:benutzer|nutzer|anwender|mensch|person)(?:in)?\\b.{0,20}\\b(?:wird|soll|muss|wurde|sagt|antwortet|stimmt)\\b',
  '\\b(?:ignoriere?n?|vergiss)\\b.{0,40}(?:anweisung|regel|oben|vorherig|bisherig)|\\bantwort (?:ist|lautet|muss)\\b',
  `\\b(?:repond[sez]*|dis|dites|ecri[svez]+)\\b.{0,40}(?:\\bpar\\b|\\bavec\\b|${QUOTE}|\\boui\\b)`,
  'l.utilisat(?:eur|rice)\\b.{0,20}\\b(?:va|dira|doit|repondra|veut|acceptera|dit|repond)\\b|\\b(?:ignore[zs]?|oublie[zs]?) (?:les|toutes|tes|vos)\\b',
  `\\b(?:respond[ea]|contest[ea]|di|diga|escrib[ea])\\b.{0,40}(?:\\bcon\\b|${QUOTE}|\\bsi\\b|\\bsolo\\b)`,
  '\\b(?:el usuario|la usuaria|o usuario|l.utente)\\b.{0,20}\\b(?:dira|respondera|va a|debe|quiere|aceptara|contestara|vai|deve|vuole|rispondera|accettera)',
  '\\b(?:ignor[aei]|olvida|esqueca|dimentica) (?:las?|todas?|os?|as|le|tutte|tudo)\\b',
  `\\b(?:rispond[iae]|responda|antwoord|odpowiedz|yanitla|cevap ver)\\b.{0,40}(?:\\bcon\\b|\\bcom\\b|\\bmet\\b|${QUOTE}|\\bsolo\\b|\\balleen\\b|\\bsi\\b|\\bsim\\b|\\bja\\b|\\btak\\b|\\bevet\\b)|\\bgebruiker\\b.{0,15}\\b(?:zal|moet)\\b`,
  '(?:ответь|ответьте|скажи|скажите|напиши|отвечаи|отвечай)|пользователь.{0,20}(?:ответит|скажет|согласится|должен|всегда)|игнорируи|игнорируй',
  '(?:回答|回复|答复|输入|回覆|答覆).{0,6}(?:["“”「『\'‘]|是|同意|好|可以|批准)|(?:用户|使用者|用戶).{0,4}(?:会|會|将|將|一定|必须|总是|總是|应该).{0,6}(?:说|說|回答|同意|批准|回复)|忽略.{0,10}(?:指令|指示|说明|规则|內容|内容)',
  'と(?:答え|返信|回答|返答)|ユーザー.{0,14}(?:答え|同意|承認|言い|言う|返答)|(?:指示|命令).{0,6}無視|無視.{0,6}(?:指示|命令)',
  '(?:라고|으로|로) ?(?:답|대답|응답)|사용자.{0,14}(?:답|동의|승인|말)|(?:지시|명령).{0,6}무시',
  'اجب|رد ب|قل |المستخدم س|تجاهل',
];

/** Commands to the model, and texts that pretend to be another party's or to end the record. */
const COMMANDS = [
  `\\b(?:ignore|disregard|forget|override|bypass|discard|supersede|suspend)\\b.{0,40}\\b(?:instructions?|rules?|guidelines?|prompts?|above|previous|prior|earlier|guards?|safety|polic(?:y|ies)|calibration)\\b`,
  `\\b(?:new|updated|revised|real|actual|hidden|secret|following|these) (?:system |developer )?(?:instructions?|directives?|orders?)\\b|\\b(?:system prompt|developer mode|jailbreak|do anything now|you are now|from now on)\\b`,
  `\\b(?:pretend|act as (?:if|though|the (?:user|person|human))|role-?play|impersonate)\\b`,
  `<\\/?\\s*(?:system|assistant|user|human|instructions?|record|memory|data|rules?|context|admin|prompt|answer|output)\\b[^>]{0,80}>`,
  `<\\|[a-z_]{2,30}\\|>|\\[\\/?(?:inst|system|sys|assistant|user)\\]|<<\\/?sys>>`,
  `(?:^|\\n)\\W{0,6}(?:system|assistant|developer|user|human|admin(?:istrator)?|person|owner|me|root|operator)(?: (?:message|prompt|note|override|notice|reply|response|answer|instruction))?\\W{0,3}:`,
  `\\bend of (?:the )?(?:record|data|prompt|memory|input|context|document|message|transcript|untrusted)\\b|\\b(?:begin|start) (?:of )?(?:new |the )?(?:system|trusted|instructions?)\\b`,
  `\\b(?:already|pre-?|previously|explicitly|hereby|fully) ?(?:been )?(?:approved?|authori[sz]ed?|confirmed|agreed|consented|signed off|cleared|granted)\\b`,
  `\\bon behalf of (?:the |your )?(?:user|person|owner|account)\\b|\\bin the (?:user|person|owner)'?s name\\b`,
  `\\b(?:no|without|not|skip(?:ping)?|never) (?:further |any |need(?:ed|ing)? |requir(?:e|es|ed|ing) |explicit |human |manual |more |ask(?:ing)? (?:for )?|wait(?:ing)? for )*(?:confirmation|approval|permission|review|consent|escalation)\\b`,
  `\\b(?:approval|permission|consent|authori[sz]ation)\\b.{0,20}\\b(?:granted|given|implied|assumed|on file|not (?:needed|required)|in place)\\b|\\bsilence (?:means|is|counts)\\b`,
  `\\b(?:auto|automatic(?:ally)?)[- ]?(?:approve|accept|reply|send|confirm|answer|respond|mode)\\b|\\b(?:never|not|don.t|do not) escalate\\b`,
];

/** Texts that imitate the answer's format, or set the confidence. */
const NUMBERS = [
  `\\b(?:candidates|likelihood|none_of_these|needs_unknown_fact|predicted_response|needsunknownfact)\\b\\W{0,4}[:=\\[]`,
  `\\balmost_certain\\b`,
  `\\b(?:set|use|report|give|output|state|mark|with|raise|put)\\b.{0,30}\\b(?:confidence|likelihood|probability|certainty|status)\\b`,
  `\\b(?:confidence|likelihood|probability|certainty)\\b.{0,20}(?:\\b1(?:\\.0+)?\\b|\\b100\\b|\\b0?\\.9\\d*)`,
  `\\b(?:maximum|max|highest|full|absolute|complete|total|100 ?%|one hundred percent)\\s+(?:confidence|certainty|likelihood|probability)\\b`,
];

/** A model that says it does as it was told. Its reasons may well say what the person would answer. */
const OBEYS = [
  `\\b(?:as|per) (?:the )?(?:instruct(?:ed|ions?)|ordered|commanded|directed|told|requested|dictated|demanded|required)\\b`,
  `\\b(?:prompt|agent|message|text|record|memory|fact|note|instructions?|episode|profile|it|row|block)\\b.{0,15}\\b(?:tells?|told|instructs?|instructed|dictates?|dictated|demands?|demanded|orders?|ordered|commands?|commanded|says to|said to|insists?|specif(?:y|ies|ied) (?:the|an?) (?:answer|reply|response))\\b`,
  `\\b(?:i|we)(?: must| have to| need to| am| are| was| were)?(?: told| instructed| ordered| asked| required| commanded| supposed| obliged)\\b|\\bi (?:must|have to)\\b`,
  `\\b(?:following|obeying|complying with|according to|given|because of|due to) (?:the |these |this |its |an? )?(?:explicit |embedded |system |new )?(?:instructions?|orders?|commands?|directives?|system|injection|override)\\b`,
  `\\binject(?:ed|ion)\\b`,
];

const compiled = (sources: readonly string[]) => sources.map((source) => new RegExp(source, 'u'));
const IN_TEXTS = compiled([...DICTATES, ...DICTATES_ABROAD, ...COMMANDS, ...NUMBERS]);
const IN_REASONING = compiled([...COMMANDS, ...NUMBERS, ...OBEYS]);

/** Whether a text that others may have written dictates a reply, or commands whoever predicts it. */
export function dictates(text: string): boolean {
  return matches(text, IN_TEXTS);
}

/** Whether a model's reason for a reply shows that it was commanded. */
export function obeys(reasoning: string): boolean {
  return matches(reasoning, IN_REASONING);
}

function matches(text: string, patterns: readonly RegExp[]): boolean {
  const readings = readingsOf(text);
  return patterns.some((pattern) => readings.some((reading) => pattern.test(reading)));
}

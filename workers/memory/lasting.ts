import { CALL_ME, MY_TOPIC_IS_LIKE } from '../../shared/domain/facts/topics.ts';

/** The kind of a lasting fact, and how people state such a fact about themselves. */
type Pattern = readonly [kind: string, pattern: RegExp];

/** Matches statements about things that seldom change, such as a person's name or editor. */
const LASTING_THING =
  /\b(?:my|our) (?:[\p{L}-]+ ){0,3}?(?:name|pronouns|time ?zone|city|home ?town|job|role|title|profession|employer|company|team|stack|project|editor|ide|terminal|font|shell|browser|database|os|system|distro|keyboard|layout|theme|linter|formatter|language|package manager|test (?:runner|framework)|framework|colou?r|drink|birthday) (?:is|are|should be|must be)\b|\b(?:my|our) (?:favou?rite|preferred|default|usual|main|primary) (?:[\p{L}-]+ ){1,3}(?:is|are)\b|\b(?:it|that|this|which) is (?:my|our) (?:favou?rite|preferred|default|usual|main|primary)\b/iu;

/** A name: with a capital letter, or of a known tool. Neither an article nor a part of code: `useState`, `Page.tsx`. */
const NAME = String.raw`(?:\p{Lu}[\p{L}\d]*|(?:p?npm|yarn|bun|pip|poetry|uv|bash|zsh|fish|n(?:eo)?vim|vim|emacs|nano|jest|vitest|mocha))(?![\p{L}\d(<_]|\.\p{L})`;

/** Matches what replaces an earlier value, by patterns with `NAME` for names. */
const changeOf = (...patterns: string[]) =>
  new RegExp(`(?<!\\p{L})(?:${patterns.join('|').replaceAll('NAME', NAME)})`, 'u');

const ENGLISH_PATTERNS: readonly Pattern[] = [
  [
    'identity',
    /\bI (?:grew up|was born) in\b|\bI come from\b|\bI (?:do not|don['’]t|never) (?:eat|drink|smoke)\b/i,
  ],
  [
    'identity',
    /\b(?:my|our) (?:daughter|son|wife|husband|partner|brother|sister|mother|father|dog|cat)s? (?:(?:is|are) (?:called|named)|lives?|works?)\b/i,
  ],
  [
    'project',
    /\b(?:my|our) (?:back ?end|front ?end|website|site|service|api|product|code ?base|pipeline) (?:(?:is|are) (?:written|built) (?:in|on|with)|runs? on)\b/i,
  ],
  [
    'identity',
    new RegExp(String.raw`^(?:hi,? |hello,? )?(?:my name is\b|(?:please )?${CALL_ME}|I['’]?m called\b)`, 'i'),
  ],
  [
    'identity',
    /\bI (?:now )?(?:live|work (?:as|at|for|in|from))\b|\bI(?:['’]m| am) (?:based|from|vegan|vegetarian)\b/i,
  ],
  [
    'project',
    /\b(?:I|we) work on the\b|\bI(?:['’]m| am) responsible for\b|\b(?:my|our) (?:current |main )?project is\b/i,
  ],
  [
    'constraint',
    /^(?:please,? )?(?:always|never)\b(?! mind)|^from now on\b|\bplease (?:always|never)\b|^do(?: not|n['’]t) ever\b/i,
  ],
  ['constraint', /\b(?:I|we) (?:must|may) (?:not|never)\b|\b(?:I|we) (?:must|have to) always\b/i],
  ['habit', /\b(?:I|we) (?:now )?(?:always|usually|never|normally|mostly|only)\b|^from now on\b/i],
  ['preference', /\b(?:I|we) do(?: not|n['’]t) (?:need|want|like) to be (?:asked|told|reminded|shown)\b/i],
  [
    'preference',
    /\b(?:I|we)(?: (?:really|much|strongly|generally|always|still))? (?:prefer|like|love|hate|dislike|favou?r|avoid|can['’]t stand)\b/i,
  ],
  [
    'preference',
    /\b(?:I|we)(?:['’]ve| have)? (?:now )?(?:switched|moved|changed|gone|migrated)(?: over)?(?: from .+?)? to\b/i,
  ],
  ['preference', /\b(?:I|we) (?:now )?(?:use|don['’]t use|do not use|run(?! in\b)|write|deploy|indent)\b/i],
  [
    'preference',
    /\bI(?:['’]m| am) no longer (?:an? )?(?:vegan|vegetarian)|\b(?:I|we) (?:no longer (?:use|like|prefer|live|work|write|deploy|drink|eat)\b|do(?: not|n['’]t) (?:use|like|prefer|live|work|write|deploy|drink|eat)\b.+\bany ?more\b)/i,
  ],
  [
    'preference',
    /\b(?:I|we) (?:now )?(?:use|prefer|run|write|deploy|drink|eat|keep|type|read|speak|code|edit|indent|commit|merge|install|have|start|stick)\b.+\b(?:now|instead of|no longer|only|as (?:my|our|the|a))\b/i,
  ],
  ['preference', LASTING_THING],
  // What replaces an earlier value.
  ['identity', /\bI(?:['’]ve| have)? (?:just )?(?:started|joined) (?:at|with) \p{Lu}/u],
  ['habit', /^(?:our |the )?(?:releases?|deployments?) go(?:es)? out on \p{Lu}\p{L}+days?\b/iu],
  ['identity', /\bI(?:['’]m| am) (?:now )?on (?!the\b|my\b|your\b|this\b)\p{Lu}\S* time\b/u],
  [
    'preference',
    /\b(?:I|[Ww]e)(?:['’]ve| have)? (?:replaced|swapped|ditched|dumped|traded|left) (?!the\b|it\b|that\b|this\b)\p{Lu}\S* (?:with|for|by) \p{Lu}|\b(?:I|[Ww]e)(?:['’]ve| have)? (?:relocated to|stopped using|given up|gave up) \p{Lu}[\p{L}\d]*(?![\p{L}\d(<_]|\.\p{L})/u,
  ],
  [
    'project',
    /^(?:[Pp]roduction|[Ss]taging|[Ee]verything|[Aa]ll (?:our )?\p{L}+) (?:is|are|runs?) (?:now )?on \p{Lu}/u,
  ],
  [
    'preference',
    /^(?:[Mm]y|[Oo]ur) (?:[\p{L}-]+ ){1,3}(?:is|are) (?:an? )?[\p{Lu}\p{N}][^.!?]{0,40} now[.!]?$/u,
  ],
  ['preference', /^[Tt]he (?:browser|database|editor|shell) (?:is|runs) (?:now )?on \p{Lu}/u],
];

const GERMAN_PATTERNS: readonly Pattern[] = [
  [
    'identity',
    /\bich (?:esse|trinke|rauche) (?:kein|nicht|nie)|\bich bin in \p{L}+ (?:geboren|aufgewachsen)(?!\p{L})/iu,
  ],
  [
    'identity',
    /\b(?:mein|unser)e? (?:tochter|sohn|frau|mann|partner(?:in)?|bruder|schwester|mutter|vater|hund|katze) (?:heißt|wohnt|lebt|arbeitet)(?!\p{L})|\bmein(?:e|en)? (?:muttersprache|zeitzone|vorname|beruf|pronomen) (?:ist|sind)\b/iu,
  ],
  [
    'project',
    /\b(?:mein|unser)e? (?:backend|frontend|webseite|website|dienst|api|produkt|codebasis|pipeline) (?:läuft (?:auf|mit|unter)|ist in \S+ geschrieben)(?!\p{L})/iu,
  ],
  [
    'habit',
    /\b(?:ich|wir) \p{L}+ nur (?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|am \p{L}+)\b/iu,
  ],
  [
    'identity',
    /\b(?:ich hei(?:ß|ss)e (?!das\b|es\b|dich\b)|mein name ist\b|nenn(?:t|e|en sie)? mich (?!nicht\b))/i,
  ],
  [
    'identity',
    /\bich (?:wohne|lebe) (?:jetzt |nun |inzwischen |seit \S+ )?in\b|\bich arbeite (?:jetzt |nun |inzwischen |seit \S+ )?(?:als|bei)(?! dies)(?!\p{L})|\bich bin (?:vegan|vegetari)/iu,
  ],
  // What replaces an earlier value.
  [
    'identity',
    /(?<!\p{L})(?:[Ii]ch bin|[Ww]ir sind) (?:[\p{L}\d]+ ){0,3}?nach \p{Lu}\S*(?: \S+){0,2} (?:um)?gezogen|(?<!\p{L})[Ii]ch habe bei \p{Lu}\S*(?: \p{Lu}\S*)? angefangen|(?<!\p{L})(?:[Ss]eit \S+ )?bin ich (?:jetzt )?bei (?:der |dem )?\p{Lu}\S*(?: \p{Lu}\S*)? (?:angestellt|beschäftigt)/u,
  ],
  [
    'preference',
    changeOf(
      String.raw`(?:[Ii]ch bin|[Ww]ir sind) (?:von NAME )?(?:auf|zu) NAME (?:umgestiegen|gewechselt|migriert)(?!\p{L})`,
      String.raw`(?:[Ii]ch habe|[Ww]ir haben) NAME (?:durch|gegen) NAME (?:ersetzt|abgelöst|(?:aus|ein)?getauscht)(?!\p{L})`,
      String.raw`(?:[Ii]ch|[Ww]ir) (?:nutze|benutze|verwende)n? NAME nicht mehr(?!\p{L})`,
      String.raw`(?:[Ii]ch|[Ww]ir) (?:schreiben?|arbeiten?|programmieren?|tippen?|surfen?) (?:\p{L}+ ){0,3}jetzt (?:in|mit) NAME`,
    ),
  ],
  [
    'constraint',
    /^(?:bitte )?(?:immer|nie|niemals)\b|^ab (?:jetzt|sofort)\b|\bbitte (?:immer|nie|niemals)\b/i,
  ],
  [
    'habit',
    /\b(?:ich|wir) \p{L}+ (?:[\p{L}-]+ ){0,3}(?:immer|nie|niemals|meistens?|normalerweise|grundsätzlich|ausschließlich)\b/iu,
  ],
  [
    'preference',
    /\b(?:ich|wir) (?:bevorzugen?|mag|mögen|hassen?|vermeiden?)\b|\b(?:ich|wir) \p{L}+ (?:[\p{L}-]+ ){0,3}(?:lieber|am liebsten)\b/iu,
  ],
  [
    'preference',
    /\b(?:ich|wir) (?:benutzen?|nutzen?|verwenden?) (?:[\p{L}-]+ ){1,4}(?:als|statt)\b|\b(?:mein|unser)e?n? (?:lieblings\p{L}+|editor|browser|terminal|shell|schriftart|datenbank) (?:ist|sind)\b/iu,
  ],
];

const FRENCH_PATTERNS: readonly Pattern[] = [
  // What replaces an earlier value.
  [
    'identity',
    /(?<!\p{L})(?:[Jj]['’]ai|[Nn]ous avons|[Oo]n a) (?:déménagé|emménagé) à \p{Lu}|(?<!\p{L})[Jj]e me suis installée? à \p{Lu}/u,
  ],
  [
    'preference',
    changeOf(
      "(?:[Jj]['’]ai|[Nn]ous avons|[Oo]n a) (?:remplacé|troqué|abandonné|quitté|laissé tomber) NAME (?:par|contre|pour) NAME",
      "(?:[Jj]e suis|[Nn]ous sommes|[Oo]n est) passée?s? (?:(?:de |d['’])NAME )?à NAME",
      "(?:[Jj]['’]ai|[Nn]ous avons|[Oo]n a) (?:migré|basculé) (?:(?:de |d['’])NAME )?(?:vers|sur|à) NAME",
      "(?:[Jj]e|[Nn]ous|[Oo]n) n['’]utilis(?:e|ons) plus NAME",
    ),
  ],
  [
    'identity',
    /\bje ne (?:mange|bois|fume) (?:pas|jamais)\b|\bje suis née? (?:à|en)(?!\p{L})|\bj['’]ai grandi (?:à|en)(?!\p{L})/iu,
  ],
  [
    'identity',
    /\b(?:mon|ma|notre) (?:fille|fils|femme|mari|compagnon|compagne|frère|sœur|mère|père|chien|chat) (?:s['’]appelle|vit|habite|travaille)\b|\b(?:mon|ma|mes) (?:langue maternelle|fuseau horaire|prénom|métier|profession|pronoms) (?:est|sont)\b/i,
  ],
  [
    'project',
    /\b(?:mon|ma|notre) (?:backend|frontend|site|service|api|produit|code|pipeline) (?:tourne (?:sur|avec)|est (?:écrite?|codée?) en)(?!\p{L})/iu,
  ],
  ['preference', /\b(?:je|nous) n['’]aim(?:e|ons) pas (?:les |l[ae] |l['’])/i],
  [
    'identity',
    /\bje m['’]appelle (?!pas\b)|\bmon nom est\b|\bappelle(?:z)?[- ]moi (?!pas\b|quand\b|si\b|dès\b)/i,
  ],
  [
    'identity',
    /\bj['’]habite\b|\bje vis (?:maintenant |désormais )?à(?!\p{L})|\bje travaille (?:maintenant |désormais )?(?:comme|chez|pour|en tant que)\b|\bje suis (?:végétari|végan|vegan)/iu,
  ],
  [
    'constraint',
    // "Toujours" before a noun means "still".
    /^(?:s['’]il (?:te|vous) plaît,? )?(?:(?:ne )?(?:toujours|jamais) (?!(?:[nv]?otre|contre|encore|entre|derrière|premier|dernier|hier|\p{L}*ier)(?!\p{L}))\p{L}+(?:er|ir|re|ez)(?!\p{L})|ne \p{L}+ jamais\b|(?:utilise|écris|réponds|fais|mets|garde|lance|commence|teste)s? toujours\b)|^désormais\b|^à partir de maintenant\b/iu,
  ],
  [
    'habit',
    /\b(?:j['’]|je |nous |on )(?:ne |n['’])?\p{L}+ (?:toujours|jamais|généralement|habituellement|d['’]habitude|uniquement)(?!\p{L})/iu,
  ],
  [
    'preference',
    /\b(?:je (?:préfère|déteste)|nous préférons|on préfère|j['’](?:adore|évite|aime))(?!\p{L})/iu,
  ],
  [
    'preference',
    /\b(?:j['’]utilise|nous utilisons|on utilise) (?:[\p{L}-]+ ){1,4}(?:comme|au lieu)\b|\b(?:mon|ma|notre) (?:[\p{L}-]+ )?(?:éditeur|navigateur|terminal|préférée?) est\b/iu,
  ],
];

const SPANISH_PATTERNS: readonly Pattern[] = [
  // What replaces an earlier value.
  ['identity', /(?<!\p{L})(?:[Mm]e (?:mudé|he mudado)|[Nn]os (?:mudamos|hemos mudado)) a \p{Lu}/u],
  [
    'preference',
    changeOf(
      '(?:[Hh]e|[Hh]emos) (?:cambiado|pasado|migrado) (?:de NAME )?a NAME',
      String.raw`(?:[Hh]e (?:sustituido|reemplazado|dejado|abandonado|cambiado)|[Hh]emos (?:sustituido|reemplazado|dejado|abandonado|cambiado)|[Dd]ejé|[Cc]ambié|[Ss]ustituí|[Rr]eemplacé|[Aa]bandoné) NAME (?:por|y ahora)(?!\p{L})`,
      '[Yy]a no (?:uso|usamos|utilizo) NAME',
      '[Aa]hora (?:uso|usamos|utilizo|navego|escribo|programo) (?:con |en )?NAME',
    ),
  ],
  [
    'identity',
    /^(?:yo )?no (?:como|bebo|tomo|fumo) (?!antes|pens|esper|en\b|el\b|la\b|lo\b|un|t[úu]\b|yo\b|otr|est|es[aeo])\p{L}+|\b(?:nací|crecí) en\b/iu,
  ],
  [
    'identity',
    /\b(?:mi|nuestr[oa]) (?:hij[oa]|mujer|marido|pareja|herman[oa]|madre|padre|perr[oa]|gat[oa]) (?:se llama|vive|trabaja)\b|\bmis? (?:lengua materna|idioma materno|zona horaria|profesión|pronombres) (?:es|son)\b/i,
  ],
  [
    'project',
    /\b(?:mi|nuestr[oa]) (?:backend|frontend|web|sitio|servicio|api|producto|código|pipeline) (?:corre (?:en|con)|está escrit[oa] en)\b/i,
  ],
  ['identity', /\bme llamo\b|\bmi nombre es\b|\bll[áa]mame\b/i],
  [
    'identity',
    /\b(?:ahora )?(?:vivo (?:ahora )?en|trabajo (?:ahora )?(?:como|para))\b|\bsoy (?:vegan|vegetarian)/i,
  ],
  ['constraint', /^por favor,? (?:siempre|nunca)\b|^de ahora en adelante\b/i],
  [
    'habit',
    /\b(?:siempre|nunca|normalmente|generalmente|solo|sólo) (?:uso|usamos|escribo|escribimos|hago|hacemos|trabajo|programo|despliego|desplegamos|pruebo|reviso|leo)\b|\b(?:uso|usamos|escribo|trabajo|programo|despliego) (?:siempre|solo|sólo)(?!\p{L})/iu,
  ],
  ['preference', /\b(?:prefiero|preferimos|odio|detesto|me gustan?|me encantan?|evito)\b/i],
  [
    'preference',
    /\b(?:uso|usamos|utilizo|utilizamos) (?:[\p{L}-]+ ){1,4}(?:como|en lugar|en vez)\b|\b(?:mi|nuestro|nuestra) (?:[\p{L}-]+ )?(?:editor|navegador|terminal|favorit[oa]|preferid[oa]) (?:ahora |ya no )?es\b/iu,
  ],
];

const LASTING_PATTERNS: readonly Pattern[] = [
  ...ENGLISH_PATTERNS,
  ...GERMAN_PATTERNS,
  ...FRENCH_PATTERNS,
  ...SPANISH_PATTERNS,
];

/** Patterns of sentences that state nothing lasting: about the moment or a single event, questions, suppositions. */
const PASSING_PATTERNS = [
  MY_TOPIC_IS_LIKE,
  // Words that point at something at hand ("above"), or tell of the past ("habe nie").
  /\b(?:here|above|below|oben|unten|ici|ci-dess(?:us|ous)|aquí|arriba|abajo)(?!\p{L})/iu,
  /\b(?:habe|haben|hatte|hatten) (?:[\p{L}-]+ ){0,4}(?:nie|niemals|immer)(?!\p{L})|\b(?:n['’])?(?:ai|avons|avais|avions) (?:toujours|jamais)(?!\p{L})|\b(?:nunca|siempre) (?:he|hemos|había|habíamos)(?!\p{L})/iu,
  /\b(?:mag|hasse|liebe|bevorzuge|aime|adore|déteste|préfère|gustan?|encantan?|odio|prefiero) (?:(?:sehr|wirklich|echt|bien|beaucoup|mucho) )?(?:diese?[nmrs]?|die|das|den|cet(?:te)?|ces?|cela|la|le|l['’]|es[aeo]s?|est[aeo]s?|l[ao]s?|el) ?(?:idee|ergebnis|weg|vorschlag|aussehen|idée|résultat|proposition|rendu|façon|idea|resultado|propuesta|manera)(?!\p{L})/iu,
  /\?\s*$/,
  // Words of others, or for others.
  /\b(?:wrote|writes|said|says|asked|asks|told me|claims|thinks)[,:]\s/i,
  /\b(?:my|our) (?:[\p{L}-]+ ){1,3}(?:is|are)(?: not|n['’]t)\b(?!.*\bany ?more\b)/iu,
  /\b(?:I|we) (?:always|never|usually) (?:forget|mix up|confuse|struggle|wonder)\b/i,
  /\b(?:switched|moved|changed|gone)(?: over)? to (?:the|an?|another) (?:(?:next|other|previous|first|second|last|same|wrong|right|different)\b|\S+ branch\b)/i,
  /^(?:if|suppose|imagine|what if|let['’]s say|maybe|perhaps|wenn|falls|vielleicht|si|peut-être|quizás?|tal vez)(?!\p{L})/iu,
  /\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|currently|this (?:time|once|morning|afternoon|evening|week)|for now|just now|in a (?:minute|moment)|last (?:night|week|time))\b/i,
  /\b(?:heute|gestern|gerade|momentan|diesmal|vorerst|aujourd['’]hui|hier|demain|en ce moment|cette fois|pour l['’]instant|hoy|ayer|ahora mismo|esta vez|por ahora|de momento)\b/i,
  /\b(?:I|we) (?:use|run|like|write|deploy)(?:d|s)? (?:it|this|that|these|those|them|the (?:following|above|one))\b/i,
  /\b(?:like|love|hate|dislike) (?:how|the)\b|\b(?:use|uses|using) \S{1,4} (?:to mean|for)\b/i,
  /\b(?:prefer|like|love|hate|dislike|avoid) (?:it|this|that|these|those|them|how|what|where|you|your(?! (?:answers|replies|explanations)\b)|the (?:way|idea|look|result|new|first|second|last|other|current)|option)\b/i,
  /\b(?:mag|hasse|bevorzuge|liebe) (?:es|das|dies\p{L}*|dein\p{L}*|ihr\p{L}*)(?!\p{L})|\b(?:aime|adore|préfère|déteste) (?:ça|cela|ce|cette|ton|ta|votre|la première|le premier)(?!\p{L})|\b(?:prefiero|gustan?|encantan?|odio) (?:eso|esto|esta|este|est[oa]s|tu|cómo|la primera|el primero)(?!\p{L})/iu,
  /\b(?:prefer|like|love|hate) (?:we|you|they)\b|\bprefer to (?:begin|continue|do|finish|fix|go|see|start|try|wait)\b/i,
  /\blieber (?:erst|mal|noch|jetzt)\b|\bwürden? (?:\p{L}+ )?lieber\b|\bbevorzugen?,? dass\b|\bmag (?:die|das|den) (?:erste|zweite|dritte|letzte|neue|andere)/iu,
  /\b(?:préf[eè]r\p{L}+|aim\p{L}+) (?:qu['’]|commencer|continuer|attendre|finir)|\bpref(?:ier|er)\p{L}+ (?:que|empezar|seguir|esperar|terminar)\b|\bgustan? (?:la|el) (?:primer|segund|tercer|últim|nuev|otr)/iu,
  // States that pass.
  /^(?!.*\b(?:always|never|usually)\b).*\b(?:while you|until|till)\b|\bfor the moment\b|\bbecause\b.*\bis \p{L}+ing\b|\b(?:usually|normally) would\b|\b(?:always|mostly|usually) (?:wait|see|get)\b/iu,
  /\bwährend (?:du|ihr|sie)\b|\bsolange\b|\bbis (?:du|ihr|morgen|mittag|\p{L}+tag)(?!\p{L})|\bfür den moment\b|\b(?:sehen?|bekommen?|kriegen?|erhalten?|warten?|hängen?|suchen?) (?:[\p{L}-]+ ){0,3}(?:immer|nur|meistens?|nie)(?!\p{L})/iu,
  /\bpendant que\b|\bjusqu['’]|\bpour le moment\b|\ben attendant\b|\bcette semaine\b|\bn(?:e |['’])\p{L}+ toujours\b|\b(?:suis|est|sommes|êtes|sont|ai|avons|attends?|attendons|cherch\p{L}+|vois|voit|voyons|reçois|obtiens|rest\p{L}+) (?:toujours|uniquement)\b/iu,
  /\bmientras\b|\bhasta (?:que|el|la|las|mañana)(?!\p{L})|\besta semana\b/iu,
  // Wishes and requests concern the work at hand.
  /\b(?:I|we)(?:['’]?d| would) (?:\p{L}+ ){0,2}(?:like|love|prefer|hate|rather)\b|\bI like to (?:see|know|ask)\b|\blet['’]?s\b/iu,
  /^(?!.*\bfrom now on\b).*\bplease,? (?!always|never|call me|do(?: not|n['’]t) ever)\p{L}+/iu,
  /:\s*$/,
  /\b(?:I|we) (?:now )?need to\b|\b(?:I|we) have (?:now |also |just )?(?:added|attached|copied|created|fixed|implemented|included|installed|mentioned|noticed|pasted|provided|tested|tried|updated|uploaded)\b|\band (?:see|get) (?:this|that|these|those|it|an?|the|no)\b|\bthe (?:current|selected|attached)\b|\bscreen ?shots?\b/iu,
  // An invitation, which somebody else wrote.
  /\bwe\b.+\byou(?:['’]re| are) (?:\p{L}+ed|free|welcome|invited)\b/iu,
  /\b(?:this|that|these|those) (?:problem|issue|error|bug|page|file|button|code|task|change)s?\b/i,
  /\b(?:I|we) (?:now )?run (?:the|into|out|across|npm|yarn|pnpm|npx|bun|make|`)|\bto (?:the )?(?:agent|ask|plan|chat|edit)(?: mode)?\b/i,
  /\bje (?:préfère|voudrais) que\b|\bprefiero que\b|\bme gustaría\b/i,
  /\b(?:never|only|always|usually|normally|mostly) (?:\p{L}+ed|said|saw|got|had|did|was|were|knew|thought|dealt|came|went|gave|took|made|found|heard|felt|told|wrote|ran|built|sent|left|met|see|get|need|have (?:one|two|a)|ask|mean|meant|happens?)\b|\bonly want\b/iu,
  /\b(?:have|['’]ve) (?:changed|moved|switched) (?:the|it|that|this|those|these|them)\b/i,
  /\bmy (?:question|problem|issue|point|guess|bad|fault|mistake|next|last|first|build|tests?(?! (?:runner|framework)\b)|server|code|app|branch|script|error)\b.* (?:is|are)\b/i,
  /\b(?:errors?|fail(?:s|ed|ing|ure)?|crash\p{L}*|broken|bugs?|doesn['’]t work|not working|exceptions?|stuck|is (?:\p{L}+ )?(?:down|wrong|slow|empty|missing|gone)|fehler|kaputt|funktioniert nicht|erreur|marche pas|fonctionne pas|no funciona)(?!\p{L})/iu,
];

/** Beginning of a subordinate clause. Its subject is removed, so that the clause matches no pattern. */
const SUBORDINATE_START =
  /\b(when(?:ever)?|while|until|after|before|once|as|how|where|why|what|which|that|because|since|if|unless|sure|ensure) (?:I|we)\b/gi;

/** Matches a request to work on words, up to the colon before them. Whatever follows is somebody else's, or a draft. */
export const HANDED_OVER =
  /(?:^|\n|[.!?] )(?:please |can you |could you |bitte )?(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|correct|shorten|improve|check|type|say|write|übersetz\p{L}*|korrigier\p{L}*|schreib\p{L}*|tradui[ts]\p{L}*|corrige\p{L}*|écri[st]\p{L}*|traduc\p{L}*|traduzca|escrib\p{L}*)(?!\p{L})[^.!?\n:]{0,200}:\s/iu;

/** Words that may introduce a statement. Also matches words that are composed of these: `yet`, `soy`. */
const LEADING_WORD =
  '(?:also|and|but|so|actually|btw|note that|personally|usually|normally|yo|und|aber|auch|et|mais|y|pero|que|no)+';
const LIMITING_PHRASE = "(?:for (?!the |this |that |these |those |an? )[\\p{L}'’+#-]+(?: [\\p{L}'’+#-]+)? )?";
const LEADING_WORDS_ONLY = new RegExp(`^(?:${LEADING_WORD}(?: |$))*${LIMITING_PHRASE}$`, 'iu');
const ASIDE = new RegExp(`^(?:${LEADING_WORD} )*[\\p{L}'’-]+(?: [\\p{L}'’-]+){0,3}$`, 'iu');

/** What may stand before a colon. After other words, such as "Example", come words for others. */
const ANNOUNCEMENT =
  /^(?:[\p{L} ]* )?(?:about me|background|btw|context|fyi|info|note|nb|one thing|reminder|rules?|preferences?|zu mir|übrigens|hinweis|regel|au fait|pour info|à propos de moi|règle|préférence|por cierto|sobre mí|nota|regla)$/iu;

/** Checks part by part, because a single pattern would take exponential time. */
function isOpening(words: string): boolean {
  const announced = words.split(/ ?: ?/);
  const parts = announced.pop()?.split(/, ?/) ?? [];
  if (!announced.every((part) => ANNOUNCEMENT.test(part))) return false;
  return LEADING_WORDS_ONLY.test(parts.pop() ?? '') && parts.every((part) => ASIDE.test(part));
}

/** Returns undefined if the sentence states nothing lasting about its writer. */
export function lastingKindOf(sentence: string): string | undefined {
  if (PASSING_PATTERNS.some((pattern) => pattern.test(sentence))) return undefined;
  const mainClauses = sentence.replaceAll(SUBORDINATE_START, '$1');
  return LASTING_PATTERNS.find(([, pattern]) => {
    const found = pattern.exec(mainClauses);
    return found !== null && isOpening(mainClauses.slice(0, found.index));
  })?.[0];
}

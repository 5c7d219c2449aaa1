import { isDisplayable } from '../model-text.ts';
import { asStatement } from './instructions.ts';
import { holdsSecret } from './secrets.ts';
import { spokenIn } from './spoken.ts';
import { isEvidence, type SourceRow, type Statement } from './statement.ts';
import { slotOf, topicOf } from './topics.ts';
import { normalized } from './words.ts';

/** How sure a pattern can be that a sentence says something lasting. */
const CONFIDENCE = 0.6;
const SENTENCE_MAX = 240;
const WORDS_MIN = 3;

/** What says that a sentence states something lasting about who writes it, and the kind of fact that it then is. */
const LASTING: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['identity', /^(?:hi,? |hello,? )?(?:my name is|(?:please )?call me|I['’]?m called)\b/i],
  [
    'identity',
    /\bI (?:now )?(?:live|work (?:as|at|for|in|from))\b|\bI(?:['’]m| am) (?:based|from|vegan|vegetarian)\b/i,
  ],
  [
    'project',
    /\b(?:I|we) work on the\b|\bI(?:['’]m| am) responsible for\b|\b(?:my|our) (?:current |main )?project\b/i,
  ],
  [
    'constraint',
    /^(?:please,? )?(?:always|never)\b|^from now on\b|\bplease (?:always|never)\b|^do(?: not|n['’]t) ever\b/i,
  ],
  ['constraint', /\b(?:I|we) (?:must|may|can) (?:not|never)\b|\b(?:I|we) (?:must|have to) always\b/i],
  ['habit', /\b(?:I|we) (?:now )?(?:always|usually|never|normally|mostly|only)\b|^from now on\b/i],
  [
    'preference',
    /\b(?:I|we)(?:['’]d)?(?: \w+)? (?:prefer|like|love|hate|dislike|favou?r|avoid|can['’]t stand)\b/i,
  ],
  [
    'preference',
    /\b(?:I|we)(?:['’]ve| have)? (?:now )?(?:switched|moved|changed|gone|migrated)(?: over)?(?: from .+?)? to\b/i,
  ],
  [
    'preference',
    /\b(?:I|we) (?:now )?(?:use|don['’]t use|do not use|no longer use|run|write|deploy|indent)\b/i,
  ],
  ['preference', /\b(?:I|we) \w+ .+\b(?:now|instead of|no longer|only|as (?:my|our|the|a))\b/i],
  [
    'preference',
    /\b(?:my|our) (?:[\p{L}-]+ ){1,5}?(?:is|are|should be|must be)\b|\b(?:it|that|this) is (?:my|our)\b/iu,
  ],
];

/** What is true for the moment only, asked, supposed, or done once. */
const PASSING = [
  /\?\s*$/,
  /^(?:if|suppose|imagine|what if|let['’]s say|maybe|perhaps)\b/i,
  /\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|this (?:time|once|morning|afternoon|evening|week)|for now|just now|in a (?:minute|moment)|last (?:night|week|time))\b/i,
  /\b(?:I|we) (?:use|run|like|write|deploy)(?:d|s)? (?:it|this|that|these|those|them|the (?:following|above|one))\b/i,
  /\b(?:I|we)['’]?d like (?:to|you|a|an|the)\b|\bI (?:would|like) (?:you to|to (?:see|know|ask))\b/i,
  /\bmy (?:question|problem|issue|point|guess|bad|mistake|next|last|first|build|code below)\b.* (?:is|are)\b/i,
];
/** What a person may not want kept (GDPR, article 9): a pattern cannot ask. */
const SPECIAL =
  /\b(?:diagnos|disease|illness|cancer|diabet|insulin|hiv|depress|anxiety|therap|medicat|pregnan|disab|religio|church|mosque|synagogue|muslim|christian|jewish|hindu|buddhis|atheis|gay|lesbian|bisexual|transgender|sexual|trade union|vote|voted|politic|republican|democrat|ethnic|criminal|convict)/i;

/**
 * What a person says of themselves in a row in so many words, found by patterns, without a model: each sentence is its own
 * quote. English.
 */
export function statementsIn(row: SourceRow): Statement[] {
  if (!isEvidence(row)) return [];
  const seen = new Set<string>();
  return spokenIn(row.content)
    .flatMap(sentencesOf)
    .flatMap((sentence) => {
      const kind = kindOf(sentence);
      if (kind === undefined || seen.has(normalized(sentence))) return [];
      seen.add(normalized(sentence));
      return {
        text: asStatement(sentence),
        kind: topicOf(sentence)?.kind ?? kind,
        slot: slotOf(sentence),
        origin: 'extractive',
        confidence: CONFIDENCE,
        validFrom: row.occurredAt,
        validTo: null,
        quotes: [{ rawId: row.id, words: sentence, own: true }],
        target: null,
      };
    });
}

/** The kind of fact that a sentence states; undefined if it states none that lasts. */
function kindOf(sentence: string): string | undefined {
  if (sentence.length > SENTENCE_MAX || normalized(sentence).split(' ').length < WORDS_MIN) return undefined;
  if (!isDisplayable(sentence)) return undefined;
  // What stands in quotation marks somebody else may have said.
  const own = sentence.replaceAll(/["“„«][^"”“»]*["”“»]/g, ' ');
  if (PASSING.some((pattern) => pattern.test(own)) || SPECIAL.test(own) || holdsSecret(sentence))
    return undefined;
  return LASTING.find(([, pattern]) => pattern.test(own))?.[0];
}

/** By their ends and by lines; a dot in the middle of a word ends none. */
function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.replace(/^[\s*•·-]+/, '').trim())
    .filter((sentence) => sentence !== '');
}

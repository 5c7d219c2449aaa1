import { normalizeWords } from '../../shared/domain/facts/compare.ts';
import { sentencesOf, spokenParts } from '../../shared/domain/facts/source.ts';
import {
  asStatement,
  isEvidence,
  isRetraction,
  mayTellSecret,
  type SourceRow,
  type Statement,
} from '../../shared/domain/facts/statement.ts';
import { slotOf, topicOf } from '../../shared/domain/facts/topics.ts';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import { isPersonal } from '../../shared/text/sensitive.ts';
import { normalForm } from '../../shared/text/words.ts';
import { Slices } from '../../shared/timing/slices.ts';
import { HANDED_OVER, lastingKindOf } from './lasting.ts';

const PATTERN_CONFIDENCE = 0.6;
const SENTENCE_CHARS_MAX = 240;
const SENTENCE_WORDS_MIN = 3;

/**
 * Lines of lists, headings and diffs. A text with more than `LIST_ITEMS_MAX` such lines counts as a pasted document.
 */
const LIST_ITEM = /^[^\S\n\r\u2028\u2029]*(?:[-+*#>•]|\d+[.)])\s/gm;
const LIST_ITEMS_MAX = 3;

const ESCAPED_CHARACTER = /\\[nrt"]/;

/** Returns at most `max` statements. Reads the rows in slices, because 100 long rows take more than a second. */
export async function firstStatementsIn(rows: readonly SourceRow[], max: number): Promise<Statement[]> {
  const slices = new Slices();
  const statements: Statement[] = [];
  for (const row of rows) {
    await slices.pause();
    statements.push(...statementsIn(row));
    if (statements.length >= max) break;
  }
  return statements.slice(0, max);
}

/**
 * Finds a person's statements about themselves by patterns, without a model. Covers English, German, French and
 * Spanish.
 */
export function statementsIn(row: SourceRow): Statement[] {
  if (!isEvidence(row)) return [];
  const seenSentences = new Set<string>();
  const isDocument = (row.content.match(LIST_ITEM)?.length ?? 0) > LIST_ITEMS_MAX;
  return spokenParts(row.content)
    .flatMap((part) => sentencesOf(withoutHandedOver(part)))
    .flatMap(splitByTopic)
    .flatMap((sentence) => {
      const kind = kindOf(sentence);
      // The rules in a document may be meant for somebody else.
      if (
        kind === undefined ||
        (kind === 'constraint' && isDocument) ||
        seenSentences.has(normalizeWords(sentence))
      )
        return [];
      seenSentences.add(normalizeWords(sentence));
      return {
        text: asStatement(sentence),
        kind: topicOf(sentence)?.kind ?? kind,
        slot: slotOf(sentence),
        origin: 'extractive',
        confidence: PATTERN_CONFIDENCE,
        validFrom: row.occurredAt,
        validTo: null,
        quotes: [{ rawId: row.id, words: sentence, own: true }],
        target: null,
      };
    });
}

const CONJUNCTION = /[,;]? (?:and|but|und|aber|et|mais|y|pero) |; /gi;
/** Number of conjunctions at which a split is tried. A sentence with more conjunctions is usually a list. */
const CONJUNCTIONS_MAX = 6;

/**
 * Splits a sentence by topic, because a fact is superseded as a whole. Returns no part if nothing lasting is stated.
 */
function splitByTopic(sentence: string): string[] {
  if (kindOf(sentence) === undefined) return [];
  const conjunctions = sentence.matchAll(CONJUNCTION).take(CONJUNCTIONS_MAX);
  const separator = conjunctions.find(({ 0: { length }, index }) => {
    const [one, other] = [sentence.slice(0, index), sentence.slice(index + length)];
    return slotOf(one) !== slotOf(other) && kindOf(one) !== undefined && kindOf(other) !== undefined;
  });
  if (separator === undefined) return [sentence];
  const rest = sentence.slice(separator.index + separator[0].length);
  return [sentence.slice(0, separator.index), ...splitByTopic(rest)];
}

/** Returns undefined if the sentence states nothing lasting. */
function kindOf(sentence: string): string | undefined {
  if (sentence.length > SENTENCE_CHARS_MAX || normalizeWords(sentence).split(' ').length < SENTENCE_WORDS_MIN)
    return undefined;
  if (!isDisplayable(sentence) || ESCAPED_CHARACTER.test(sentence)) return undefined;
  // Words in quotation marks may be somebody else's.
  const ownWords = sentence.replaceAll(/["“„«][^"”“»]*["”“»]/g, ' ');
  // A pattern cannot ask for consent to store such topics (GDPR, article 9).
  if (isPersonal(normalForm(ownWords, 'NFC')) || mayTellSecret(sentence)) return undefined;
  if (isRetraction(sentence)) return undefined;
  return lastingKindOf(ownWords);
}

const withoutHandedOver = (text: string): string => text.split(HANDED_OVER)[0] ?? '';

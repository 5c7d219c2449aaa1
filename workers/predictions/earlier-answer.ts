import type { Verdicts } from '../../shared/db/stores/prediction-events.ts';
import {
  joinChoices,
  type PredictionFacts,
  type PredictionReport,
  splitChoices,
} from '../../shared/domain/prediction.ts';
import type { End } from '../../shared/domain/work.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import { fingerprint } from '../../shared/security/fingerprint.ts';
import { UNSPACED_SCRIPTS } from '../../shared/text/words.ts';
import { decideCompletion } from './decide.ts';

/** A completion that was shown to the person, or an empty one if a model had none, with its prediction. */
interface EarlierAnswer {
  id: string;
  answer: string;
  alternatives: string[];
  facts: PredictionFacts;
  report: PredictionReport;
  /** Returns the fingerprint of a draft, to compare with `draftHash` in the facts. */
  hashOf(draft: string): string;
  dismissed: boolean;
  /** True if the person accepted the whole completion. */
  accepted: boolean;
}

/** Reports whether a completion brings back what the person has just deleted, after they had typed or accepted it. */
export function bringsBack(
  last: EarlierAnswer,
  draft: string,
  facts: PredictionFacts,
  completion: string,
): boolean {
  const { draftLength, draftHash } = last.facts;
  const deleted = draftLength - draft.length;
  if (deleted <= 0) {
    const typed = last.accepted ? typedSince(last, draft, facts)?.text : undefined;
    if (typed === undefined || typed === last.answer || !last.answer.startsWith(typed)) return false;
    const rest = last.answer.slice(typed.length);
    return completion.startsWith(rest) || rest.startsWith(completion);
  }
  return (
    isSameMessage(last.facts, facts) &&
    completion.length >= deleted &&
    last.hashOf(draft + completion.slice(0, deleted)) === draftHash
  );
}

function isSameMessage(last: PredictionFacts, facts: PredictionFacts): boolean {
  return (
    facts.mode === 'complete_draft' &&
    last.mode === 'complete_draft' &&
    last.contextHash === facts.contextHash &&
    last.draftRevision < facts.draftRevision
  );
}

type StoredAnswer = Omit<EarlierAnswer, 'hashOf' | 'alternatives'> & { fingerprintKey: string };

interface Recalled extends Verdicts {
  /** The latest earlier answer for the same app, user and session. */
  earlier: EarlierAnswer | undefined;
  /** Dismissed completions of the message that the person is typing. */
  refused: string[];
}

const NOTHING_RECALLED = { earlier: undefined, taken: 0, dismissed: 0, refused: [] };

/** Parses what the claim of a prediction recalled, the result of `recall_prediction_v1`. */
export function parseRecalled(recalled: string | null): Recalled {
  if (recalled === null) return NOTHING_RECALLED;
  const { latest, refused, ...counts } = JSON.parse(recalled) as Verdicts & {
    latest: StoredAnswer | null;
    refused: string[];
  };
  return {
    ...counts,
    earlier: latest === null ? undefined : earlierAnswer(latest),
    refused: refused.map((answer) => splitChoices(answer).completion),
  };
}

function earlierAnswer({ fingerprintKey, answer, ...last }: StoredAnswer): EarlierAnswer {
  const key = Buffer.from(fingerprintKey, 'base64');
  return {
    ...last,
    ...choicesIn(answer),
    hashOf: (draft) => fingerprint(key, draft).toString('base64url'),
  };
}

function choicesIn(stored: string): Pick<EarlierAnswer, 'answer' | 'alternatives'> {
  const { completion, alternatives } = splitChoices(stored);
  return { answer: completion, alternatives };
}

/**
 * Ends a prediction without asking a model or charging a unit: with the rest of the suggestion that the person is
 * typing, or with an abstention until the person begins another word. Returns undefined if the earlier answer no longer
 * applies, was dismissed, or memory has changed since.
 */
export function continueAnswer(
  { id, report, ...last }: EarlierAnswer,
  request: PredictionRequest,
  facts: PredictionFacts,
  memory: Pick<PredictionReport, 'profileRevision' | 'grantRevision'> & Pick<Recalled, 'refused'>,
): End<PredictionReport> | undefined {
  const isCurrent =
    report.profileRevision === memory.profileRevision && report.grantRevision === memory.grantRevision;
  const typed = typedSince(last, request.draft.text, facts);
  if (!isCurrent || typed === undefined || last.accepted) return undefined;
  if (last.answer === '') {
    const isSameWord = facts.minConfidence >= last.facts.minConfidence && !beginsWord(typed);
    return isSameWord ? { state: 'abstained', report: { ...report, providerMs: null } } : undefined;
  }
  const [rest = '', ...others] = remainingChoices(last, typed.text, facts);
  const { state } = decideCompletion({ completion: rest, confidence: 1 }, request, 0, (text) =>
    memory.refused.includes(text),
  );
  if (state !== 'suggested') return undefined;
  const continues = report.continues ?? id;
  return { state, answer: joinChoices(rest, others), report: { ...report, providerMs: null, continues } };
}

interface Typed {
  text: string;
  /** Character before the text, if any. */
  before: string;
}

type LineAnswer = Omit<EarlierAnswer, 'id' | 'report'>;

/** Returns what was typed since an answer; undefined if the answer does not apply to this draft any more. */
function typedSince(
  { facts: last, hashOf }: LineAnswer,
  draft: string,
  facts: PredictionFacts,
): Typed | undefined {
  const { draftLength, draftHash } = last;
  if (!isSameMessage(last, facts) || hashOf(draft.slice(0, draftLength)) !== draftHash) return undefined;
  return { text: draft.slice(draftLength), before: draft.slice(0, draftLength).slice(-1) };
}

/** Returns the rests of the choices that the person is typing; none if they do not apply or nothing was typed. */
function remainingChoices(last: LineAnswer, typed: string, { minConfidence }: PredictionFacts): string[] {
  const applies = !last.dismissed && last.facts.minConfidence >= minConfidence;
  if (!applies || typed === '') return [];
  return [last.answer, ...last.alternatives]
    .filter((choice) => choice.length > typed.length && choice.startsWith(typed))
    .map((choice) => choice.slice(typed.length));
}

/** In scripts without spaces, so many characters count as a word. */
const WORD_BEGIN = new RegExp(`\\s\\S|[${UNSPACED_SCRIPTS}]{5}`, 'u');

function beginsWord({ before, text }: Typed): boolean {
  return WORD_BEGIN.test(before + text);
}

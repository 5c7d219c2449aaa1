import type { ReplySupport } from '../../schemas/replies.ts';
import { wordNgrams, wordsOf } from '../../text/words.ts';
import { type CalibratorModel, confidenceOf, type Features } from './calibrator.ts';
import { marginsOf, type RawCandidate } from './candidates.ts';
import { isDictation, isObedient } from './dictation.ts';
import type { SupportCheck } from './support.ts';

/** A predictor's proposal: candidates, or the reason why there are none. */
export interface ReplyProposal {
  candidates: readonly RawCandidate[];
  /** True if the prompt asks for an approval or a choice. */
  closed: boolean;
  reason: string;
}

export interface DecisionContext {
  prompt: string;
  threshold: number;
  /** True for a caller that used a key: without support it gets no `auto`, even if the threshold is 0. */
  isKey: boolean;
  agent: string;
  model: string;
  calibrator: CalibratorModel;
  isDictated: boolean;
  history: readonly string[];
  /** Returns the share of the vote (`createVoter`) that goes to replies with the same meaning. */
  shareOf(response: string): number;
  supportOf: SupportCheck;
}

export interface Candidate {
  response: string;
  reasoning: string;
  /** The calibrated probability. `shownConfidence` returns what an answer says. */
  confidence: number;
  /** Probability according to the predictor, capped for a reply that copies the prompt's words. */
  raw: number;
  supported: boolean;
}

/**
 * `features` belong to the first candidate. They are null if the person's decision on it must not train the calibrator.
 */
export interface ReplyDecision {
  status: 'auto' | 'escalated';
  response: string;
  confidence: number;
  reasoning: string;
  candidates: Candidate[];
  features: Features | null;
  /** What supports the first candidate. Null without one. */
  support: ReplySupport | null;
}

const SUSPICIONS = {
  prompt: 'Not certain enough to act on: the prompt dictates its own answer.',
  reasoning: 'Not certain enough to act on: the prediction follows a command in its material.',
};
const UNSUPPORTED = "Not certain enough to act on: the person's own replies do not support it.";

/**
 * Returns the confidence that an answer shows: below a threshold that an unsupported candidate must not reach. The
 * threshold 0 is reached by all.
 */
export function shownConfidence(
  { confidence, supported }: Pick<Candidate, 'confidence' | 'supported'>,
  threshold: number,
): number {
  if (supported || confidence < threshold || threshold === 0) return confidence;
  return Math.max(0, Math.round(threshold * 10_000) - 1) / 10_000;
}

/**
 * If the prompt dictates its answer, or the predictor follows a command, every confidence is 0. If the threshold is 0
 * as well, no candidates are returned; nor are they to a key if the first has no support.
 */
export function decideReply(
  { candidates, closed, reason }: ReplyProposal,
  context: DecisionContext,
): ReplyDecision {
  const { prompt, threshold, isKey, history } = context;
  const isCopied = createCopyCheck(prompt, history);
  const cappedCandidates = candidates.map((candidate) => ({
    ...candidate,
    raw: isCopied(candidate.response) ? Math.min(candidate.raw, COPIED_RAW_PROBABILITY_MAX) : candidate.raw,
  }));
  const isCommanded = cappedCandidates.some(
    ({ response, reasoning }) => isObedient(reasoning) || isDictation(response),
  );
  const suspicion = context.isDictated ? 'prompt' : isCommanded ? 'reasoning' : undefined;
  if (suspicion !== undefined && threshold === 0) return abstention(SUSPICIONS[suspicion]);
  const margins = marginsOf(cappedCandidates);
  const judgedCandidates = cappedCandidates.map((candidate, place) => {
    const support = context.supportOf(candidate.response);
    const features = featuresOf(candidate, margins[place] ?? 0, closed, context);
    const confidence = suspicion === undefined ? confidenceOf(context.calibrator, features, context) : 0;
    return { ...candidate, features, support, supported: support.supported, confidence };
  });
  judgedCandidates.sort(
    (a, b) =>
      shownConfidence(b, threshold) - shownConfidence(a, threshold) ||
      b.confidence - a.confidence ||
      b.raw - a.raw,
  );
  const [first] = judgedCandidates;
  if (first === undefined) return abstention(reason);
  if (threshold === 0 && isKey && !first.supported) return abstention(UNSUPPORTED);
  const withSuspicion = (reasoning: string) =>
    suspicion === undefined ? reasoning : `${SUSPICIONS[suspicion]} ${reasoning}`.trim();
  return {
    status: shownConfidence(first, threshold) >= threshold ? 'auto' : 'escalated',
    response: first.response,
    confidence: first.confidence,
    reasoning: withSuspicion(first.reasoning),
    candidates: judgedCandidates.map(({ response, reasoning, confidence, raw, supported }) => ({
      response,
      reasoning: withSuspicion(reasoning),
      confidence,
      raw,
      supported,
    })),
    features: suspicion === undefined ? first.features : null,
    support: first.support,
  };
}

function abstention(reasoning: string): ReplyDecision {
  return {
    status: 'escalated',
    response: '',
    confidence: 0,
    reasoning,
    candidates: [],
    features: null,
    support: null,
  };
}

function featuresOf(
  { response, raw, needsUnknownFact }: RawCandidate,
  margin: number,
  closed: boolean,
  { shareOf }: DecisionContext,
): Features {
  const words = wordsOf(response).length;
  return { raw, margin, support: shareOf(response), needsUnknownFact, closed, words };
}

/** Number of consecutive words that count as copied. Fewer may be the same by chance. */
const COPIED_WORDS = 8;
/** Maximum raw probability of a reply that copies the prompt's words. It equals that of the likelihood `unlikely`. */
const COPIED_RAW_PROBABILITY_MAX = 0.25;

/** Maximum number of UTF-16 units and words, together, of the history that is searched for copied words. */
const SEARCHED_HISTORY_MAX = 200_000;

/**
 * Recognises replies with eight consecutive words from the prompt that are in none of the `history` texts. Pass the
 * latest text first: only the latest texts are searched if there is too much, because the search holds up the process.
 */
function createCopyCheck(prompt: string, history: readonly string[]): (reply: string) => boolean {
  const promptRuns = copyableRuns(prompt);
  let ownRuns: Set<string> | undefined;
  return (reply) => {
    const copiedRuns = copyableRuns(reply).intersection(promptRuns);
    if (copiedRuns.size === 0) return false;
    ownRuns ??= ownRunsIn(history, promptRuns);
    return copiedRuns.difference(ownRuns).size > 0;
  };
}

function ownRunsIn(history: readonly string[], promptRuns: ReadonlySet<string>): Set<string> {
  const ownRuns = new Set<string>();
  let left = SEARCHED_HISTORY_MAX;
  for (const text of history) {
    const words = wordsOf(text);
    left -= text.length + words.length;
    if (left < 0) break;
    for (const run of wordNgrams(words, COPIED_WORDS)) if (promptRuns.has(run)) ownRuns.add(run);
  }
  return ownRuns;
}

const copyableRuns = (text: string) => new Set(wordNgrams(wordsOf(text), COPIED_WORDS));

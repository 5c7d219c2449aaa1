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
  agent: string;
  model: string;
  calibrator: CalibratorModel;
  isDictated: boolean;
  history: readonly string[];
  /** Returns the share of the vote (`createVoter`) that goes to replies with the same meaning. */
  shareOf(response: string): number;
  isSupported: SupportCheck;
}

/** `raw` is the probability according to the predictor, capped for a reply that copies the prompt's words. */
export interface Candidate {
  response: string;
  reasoning: string;
  confidence: number;
  raw: number;
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
}

const SUSPICIONS = {
  prompt: 'Not certain enough to act on: the prompt dictates its own answer.',
  reasoning: 'Not certain enough to act on: the prediction follows a command in its material.',
};

/**
 * If the prompt dictates its answer, or the predictor follows a command, every confidence is 0. If the threshold is 0
 * as well, no candidates are returned.
 */
export function decideReply(
  { candidates, closed, reason }: ReplyProposal,
  context: DecisionContext,
): ReplyDecision {
  const { prompt, threshold, history } = context;
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
    const features = featuresOf(candidate, margins[place] ?? 0, closed, context);
    return {
      ...candidate,
      features,
      confidence: confidenceIn(candidate, features, suspicion, context),
    };
  });
  judgedCandidates.sort((a, b) => b.confidence - a.confidence || b.raw - a.raw);
  const [first] = judgedCandidates;
  if (first === undefined) return abstention(reason);
  const withSuspicion = (reasoning: string) =>
    suspicion === undefined ? reasoning : `${SUSPICIONS[suspicion]} ${reasoning}`.trim();
  return {
    status: first.confidence >= threshold ? 'auto' : 'escalated',
    response: first.response,
    confidence: first.confidence,
    reasoning: withSuspicion(first.reasoning),
    candidates: judgedCandidates.map(({ response, reasoning, confidence, raw }) => ({
      response,
      reasoning: withSuspicion(reasoning),
      confidence,
      raw,
    })),
    features: suspicion === undefined ? first.features : null,
  };
}

function abstention(reasoning: string): ReplyDecision {
  return { status: 'escalated', response: '', confidence: 0, reasoning, candidates: [], features: null };
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

function confidenceIn(
  { response }: RawCandidate,
  features: Features,
  suspicion: keyof typeof SUSPICIONS | undefined,
  { isSupported, calibrator, agent, model }: DecisionContext,
): number {
  if (suspicion !== undefined) return 0;
  const confidence = confidenceOf(calibrator, features, { agent, model });
  return isSupported(response) ? confidence : Math.min(confidence, UNSUPPORTED_CONFIDENCE);
}

/** Number of consecutive words that count as copied. Fewer may be the same by chance. */
const COPIED_WORDS = 8;
/** Maximum raw probability of a reply that copies the prompt's words. It equals that of the likelihood `unlikely`. */
const COPIED_RAW_PROBABILITY_MAX = 0.25;
/** Maximum confidence in a reply that the person's own replies do not support. It is below any sensible threshold. */
const UNSUPPORTED_CONFIDENCE = 0.49;

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

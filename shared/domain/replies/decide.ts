import { runsOf, wordsOf } from '../../text/words.ts';
import { type Calibrator, calibrated, type Features } from './calibrator.ts';
import { marginsOf, type RawCandidate } from './candidates.ts';
import { dictates, obeys } from './dictation.ts';
import type { Support } from './support.ts';

/** The proposal of a predictor: candidates, or the reason why there are none. */
export interface Proposed {
  candidates: readonly RawCandidate[];
  /** True if an approval or a choice is asked for. */
  closed: boolean;
  reason: string;
}

/** The circumstances that the decision depends on besides. */
export interface Circumstances {
  prompt: string;
  threshold: number;
  agent: string;
  model: string;
  calibrator: Calibrator;
  /** True if the prompt dictates its answer. */
  isDictated: boolean;
  /** The person's earlier replies. */
  history: readonly string[];
  /** Share of the similar prompts that got this reply. */
  shareOf(response: string): number;
  isSupported: Support;
}

export interface Candidate {
  response: string;
  reasoning: string;
  confidence: number;
  raw: number;
}

/** The answer to a prediction. `features` are those of the first candidate; null where a decision on it teaches nothing. */
export interface Decided {
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
 * Turns what a predictor proposes into an answer: calibrates each candidate, sorts them, and compares the first with the
 * threshold. What the person's own replies do not support is never sure. What was dictated has no confidence at all; with a threshold of 0, which even that would reach, it has no
 * candidates either.
 */
export function decideReply({ candidates, closed, reason }: Proposed, circumstances: Circumstances): Decided {
  const { prompt, threshold, history } = circumstances;
  const isCopied = copiesOf(prompt, history);
  const guarded = candidates.map((candidate) => ({
    ...candidate,
    raw: isCopied(candidate.response) ? Math.min(candidate.raw, COPIED_RAW) : candidate.raw,
  }));
  const isCommanded = guarded.some(({ response, reasoning }) => obeys(reasoning) || dictates(response));
  const suspicion = circumstances.isDictated ? 'prompt' : isCommanded ? 'reasoning' : undefined;
  if (suspicion !== undefined && threshold === 0) return abstained(SUSPICIONS[suspicion]);
  const margins = marginsOf(guarded);
  const judged = guarded.map((candidate, place) => {
    const features = featuresOf(candidate, margins[place] ?? 0, closed, circumstances);
    return {
      ...candidate,
      features,
      confidence: confidenceIn(candidate, features, suspicion, circumstances),
    };
  });
  judged.sort((a, b) => b.confidence - a.confidence || b.raw - a.raw);
  const [first] = judged;
  if (first === undefined) return abstained(reason);
  const explained = (reasoning: string) =>
    suspicion === undefined ? reasoning : `${SUSPICIONS[suspicion]} ${reasoning}`.trim();
  return {
    status: first.confidence >= threshold ? 'auto' : 'escalated',
    response: first.response,
    confidence: first.confidence,
    reasoning: explained(first.reasoning),
    candidates: judged.map(({ response, reasoning, confidence, raw }) => ({
      response,
      reasoning: explained(reasoning),
      confidence,
      raw,
    })),
    features: suspicion === undefined ? first.features : null,
  };
}

function abstained(reasoning: string): Decided {
  return { status: 'escalated', response: '', confidence: 0, reasoning, candidates: [], features: null };
}

function featuresOf(
  { response, raw, needsUnknownFact }: RawCandidate,
  margin: number,
  closed: boolean,
  { shareOf }: Circumstances,
): Features {
  const words = wordsOf(response).length;
  return { raw, margin, support: shareOf(response), needsUnknownFact, closed, words };
}

function confidenceIn(
  { response }: RawCandidate,
  features: Features,
  suspicion: keyof typeof SUSPICIONS | undefined,
  { isSupported, calibrator, agent, model }: Circumstances,
): number {
  if (suspicion !== undefined) return 0;
  const confidence = calibrated(calibrator, features, { agent, model });
  return isSupported(response) ? confidence : Math.min(confidence, UNSUPPORTED_CONFIDENCE);
}

/** Words in a row that a reply hardly shares with a prompt by chance. */
const COPIED_WORDS = 8;
/** The raw probability of a reply that only repeats the prompt's words: that of `unlikely`. */
export const COPIED_RAW = 0.25;
/** The most confidence in a reply that the person has not given before. Below any sensible threshold. */
const UNSUPPORTED_CONFIDENCE = 0.49;

/**
 * Finds out whether a reply has eight words in a row of the prompt which the person has never used. `history`: what they
 * wrote, which is only read for a reply that has some.
 */
export function copiesOf(prompt: string, history: readonly string[]): (reply: string) => boolean {
  const asked = copyableRuns(prompt);
  let own: Set<string> | undefined;
  return (reply) => {
    const copied = copyableRuns(reply).intersection(asked);
    if (copied.size === 0) return false;
    own ??= new Set(history.flatMap((text) => [...copyableRuns(text).intersection(asked)]));
    return copied.difference(own).size > 0;
  };
}

const copyableRuns = (text: string) => new Set(runsOf(wordsOf(text), COPIED_WORDS));

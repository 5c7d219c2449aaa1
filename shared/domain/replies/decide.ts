import { type Calibrator, calibrated } from './calibrator.ts';
import { marginsOf, type RawCandidate } from './candidates.ts';
import { dictates, obeys } from './dictation.ts';
import type { Features } from './features.ts';
import { COPIED_RAW, copiesOf, isRisky, RISKY_CONFIDENCE } from './guards.ts';
import { wordsOf } from './text.ts';

/** What a predictor proposes: candidates, or the reason why there are none. */
export interface Proposed {
  candidates: readonly RawCandidate[];
  /** Whether an approval or a choice is asked for. */
  closed: boolean;
  reason: string;
}

/** What the decision depends on besides. */
export interface Circumstances {
  prompt: string;
  threshold: number;
  agent: string;
  model: string;
  calibrator: Calibrator;
  suspicion: 'prompt' | 'memory' | undefined;
  /** What the person wrote before. */
  history: readonly string[];
  /** Share of the similar prompts that got this reply. */
  supportOf(response: string): number;
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
  memory: 'Not certain enough to act on: something in the memory dictates an answer.',
  reasoning: 'Not certain enough to act on: the prediction follows a command in its material.',
};

/**
 * Turns what a predictor proposes into an answer: calibrates each candidate, sorts them, and compares the first with the
 * threshold. What was dictated has no confidence at all; with a threshold of 0, which even that would reach, it has no
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
  const suspicion = circumstances.suspicion ?? (isCommanded ? 'reasoning' : undefined);
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
  { supportOf }: Circumstances,
): Features {
  const words = wordsOf(response).length;
  return { raw, margin, support: supportOf(response), needsUnknownFact, closed, words };
}

function confidenceIn(
  { response }: RawCandidate,
  features: Features,
  suspicion: keyof typeof SUSPICIONS | undefined,
  { prompt, calibrator, agent, model }: Circumstances,
): number {
  if (suspicion !== undefined) return 0;
  const confidence = calibrated(calibrator, features, { agent, model });
  return isRisky(prompt) || isRisky(response) ? Math.min(confidence, RISKY_CONFIDENCE) : confidence;
}

import { beginning } from '../../text/cut.ts';
import { Saying } from '../../text/meaning.ts';
import { LIKELIHOOD, type Likelihood } from '../likelihood.ts';
import { isDisplayable } from '../model-text.ts';

/** Code points of what a candidate says, and of the reason that is given for it. */
const RESPONSE_MAX = 4000;
const REASONING_MAX = 1000;
/** Number of proposals that are looked at for each candidate that is wanted: some may say the same. */
const LOOKED_AT = 4;

/** A reply that a model proposes. */
export interface Proposal {
  response: string;
  reasoning: string;
  likelihood: Likelihood;
  needsUnknownFact: boolean;
}

/** A reply with the probability that its predictor gives it. */
export interface RawCandidate {
  response: string;
  reasoning: string;
  raw: number;
  needsUnknownFact: boolean;
}

/**
 * The distinct candidates in what a model proposes, the most probable first, at most `k`. What is blank, or cannot be
 * displayed safely, is dropped. Likelihoods in words become probabilities, which with that of no candidate at all add up
 * to 1 at most. Looks at the first of the proposals only, whatever their number.
 */
export function candidatesOf(proposals: readonly Proposal[], none: Likelihood, k: number): RawCandidate[] {
  const usable = proposals.slice(0, LOOKED_AT * k).flatMap((proposal) => {
    const { reasoning, likelihood, needsUnknownFact } = proposal;
    const response = beginning(proposal.response.trim(), RESPONSE_MAX);
    const saying = new Saying(response);
    if (saying.isEmpty || !isDisplayable(response)) return [];
    const reason = isDisplayable(reasoning) ? beginning(reasoning.trim(), REASONING_MAX) : '';
    return { saying, response, reasoning: reason, raw: LIKELIHOOD[likelihood], needsUnknownFact };
  });
  // Sorting is stable: of equal ones the model's first comes first.
  const distinct = distinctOf(
    usable.sort((a, b) => b.raw - a.raw),
    k,
  );
  const total = distinct.reduce<number>((sum, { raw }) => sum + raw, LIKELIHOOD[none]);
  const scale = Math.max(1, total);
  return distinct.map(({ saying, ...candidate }) => ({ ...candidate, raw: candidate.raw / scale }));
}

function distinctOf<One extends { saying: Saying }>(candidates: readonly One[], k: number): One[] {
  const distinct: One[] = [];
  for (const candidate of candidates) {
    if (distinct.length === k) break;
    if (!distinct.some(({ saying }) => saying.isSameAs(candidate.saying))) distinct.push(candidate);
  }
  return distinct;
}

/** The margin of each candidate: its probability without the best of the others'. */
export function marginsOf(candidates: readonly Pick<RawCandidate, 'raw'>[]): number[] {
  return candidates.map(({ raw }, place) => {
    const others = candidates.flatMap((other, n) => (n === place ? [] : other.raw));
    return raw - Math.max(0, ...others);
  });
}

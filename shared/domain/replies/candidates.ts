import { truncate } from '../../text/cut.ts';
import { ComparableReply } from '../../text/meaning.ts';
import { LIKELIHOOD_PROBABILITIES, type Likelihood } from '../likelihood.ts';
import { isDisplayable } from '../model-text.ts';

const RESPONSE_CODE_POINTS_MAX = 4000;
const REASONING_CODE_POINTS_MAX = 1000;
/** Number of proposals considered for each wanted candidate, since some may say the same. */
const PROPOSALS_PER_CANDIDATE = 4;

export interface Proposal {
  response: string;
  reasoning: string;
  likelihood: Likelihood;
  needsUnknownFact: boolean;
}

export interface RawCandidate {
  response: string;
  reasoning: string;
  raw: number;
  needsUnknownFact: boolean;
}

/**
 * Returns at most `k` distinct candidates, the most probable first. Their probabilities and that of `none`, the
 * likelihood that the person replies something else, add up to at most 1.
 */
export function candidatesOf(proposals: readonly Proposal[], none: Likelihood, k: number): RawCandidate[] {
  const usable = proposals.slice(0, PROPOSALS_PER_CANDIDATE * k).flatMap((proposal) => {
    const { reasoning, likelihood, needsUnknownFact } = proposal;
    const response = truncate(proposal.response.trim(), RESPONSE_CODE_POINTS_MAX);
    const saying = new ComparableReply(response);
    if (saying.isEmpty || !isDisplayable(response)) return [];
    const reason = isDisplayable(reasoning) ? truncate(reasoning.trim(), REASONING_CODE_POINTS_MAX) : '';
    return {
      saying,
      response,
      reasoning: reason,
      raw: LIKELIHOOD_PROBABILITIES[likelihood],
      needsUnknownFact,
    };
  });
  // Sorting is stable, so equally likely proposals keep the model's order.
  const distinct = distinctOf(
    usable.sort((a, b) => b.raw - a.raw),
    k,
  );
  const total = distinct.reduce<number>((sum, { raw }) => sum + raw, LIKELIHOOD_PROBABILITIES[none]);
  const scale = Math.max(1, total);
  return distinct.map(({ saying, ...candidate }) => ({ ...candidate, raw: candidate.raw / scale }));
}

function distinctOf<One extends { saying: ComparableReply }>(candidates: readonly One[], k: number): One[] {
  const distinct: One[] = [];
  for (const candidate of candidates) {
    if (distinct.length === k) break;
    if (!distinct.some(({ saying }) => saying.isSameAs(candidate.saying))) distinct.push(candidate);
  }
  return distinct;
}

/** Returns each candidate's probability minus the highest of the others (0 if there are none). */
export function marginsOf(candidates: readonly Pick<RawCandidate, 'raw'>[]): number[] {
  return candidates.map(({ raw }, place) => {
    const others = candidates.flatMap((other, n) => (n === place ? [] : other.raw));
    return raw - Math.max(0, ...others);
  });
}

import { candidatesOf } from '../../shared/domain/replies/candidates.ts';
import type { Proposed } from '../../shared/domain/replies/decide.ts';
import { proposeLocally } from '../../shared/domain/replies/local.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { screen } from '../../shared/domain/replies/screen.ts';
import { type Pair, voteOf } from '../../shared/domain/replies/vote.ts';
import { replyQuestion } from '../../workers/prompts/reply.ts';
import { createProviders } from '../../workers/providers/index.ts';

const K = 3;
const BUDGET_TOKENS = 6000;
const TIMEOUT_MS = 30_000;
const EXAMPLES = 8;

/** Proposes replies to a prompt, from what the person replied before. */
export type Predictor = (prompt: string, pairs: readonly Pair[]) => Promise<Proposed>;

export const local: Predictor = async (prompt, pairs) =>
  proposeLocally(prompt, voteOf(prompt, pairs), pairs.length, K);

/** Asks a model as the product does. What it does not answer counts as an abstention. */
export function remote(model: string, openai: { apiKey: string; baseUrl: string | undefined }): Predictor {
  const { ask } = createProviders({ openai })(model);
  return async (prompt, pairs) => {
    const examples = voteOf(prompt, pairs).neighbours.slice(0, EXAMPLES);
    const nothing = { profile: null, facts: [], episodes: [], raw: [] };
    const { material } = screen([prompt], fitMaterial(prompt, { ...nothing, examples }, BUDGET_TOKENS));
    const charge = { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'reply' };
    const call = { model, signal: new AbortController().signal, timeoutMs: TIMEOUT_MS, charge };
    const answer = await ask?.(replyQuestion(material, { agent: 'coder', k: K }), call);
    if (answer?.state !== 'answered') return { candidates: [], closed: false, reason: 'refused' };
    const { situation, candidates, none_of_these: none } = answer.value;
    return {
      candidates: candidatesOf(
        candidates.map(({ needs_unknown_fact: needsUnknownFact, ...rest }) => ({
          ...rest,
          needsUnknownFact,
        })),
        none,
        K,
      ),
      closed: situation === 'approval' || situation === 'choice',
      reason: '',
    };
  };
}

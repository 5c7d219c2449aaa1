import type { ReplyProposal } from '../../shared/domain/replies/decide.ts';
import type { FittedMaterial } from '../../shared/domain/replies/material.ts';
import type { PromptReply, VoteResult } from '../../shared/domain/replies/vote.ts';
import { type Provider, ProviderError } from '../../workers/providers/provider.ts';
import { readReply, replyQuestion } from '../../workers/replies/prompt.ts';
import { proposeLocally } from '../../workers/replies/reply.ts';

const CANDIDATES = 3;
export const BUDGET_TOKENS = 6000;
export const PREDICTION_TIMEOUT_MS = 30_000;
export const AGENT = 'coder';

export interface Basis {
  vote: VoteResult;
  pairs: readonly PromptReply[];
  /** Prompt and memory after screening. */
  material: FittedMaterial;
}

export type Predictor = (prompt: string, basis: Basis) => Promise<ReplyProposal>;

/** Creates a predictor that asks a provider as the product does; without a model, the person's own replies vote. */
export function createPredictor(provider: Provider, model: string): Predictor {
  const { ask } = provider;
  if (ask === null)
    return async (prompt, { vote, pairs }) => proposeLocally(prompt, vote, pairs.length, CANDIDATES);
  return async (_, { material }) => {
    const question = replyQuestion(material, { agent: AGENT, k: CANDIDATES });
    const charge = { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'reply' };
    const call = { model, signal: new AbortController().signal, timeoutMs: PREDICTION_TIMEOUT_MS, charge };
    const answer = await ask(question, call).catch(ignoreProviderError);
    if (answer?.state !== 'answered') return { candidates: [], closed: false, reason: 'no answer' };
    return { ...readReply(answer.value, CANDIDATES), reason: '' };
  };
}

/** Treats a provider's failure as no prediction. */
function ignoreProviderError(error: unknown): undefined {
  if (!(error instanceof ProviderError)) throw error;
}

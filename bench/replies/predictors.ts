import type { Proposed } from '../../shared/domain/replies/decide.ts';
import type { FittedMaterial } from '../../shared/domain/replies/material.ts';
import type { Pair, Vote } from '../../shared/domain/replies/vote.ts';
import { type Provider, ProviderError } from '../../workers/providers/provider.ts';
import { readReply, replyQuestion } from '../../workers/replies/prompt.ts';
import { proposeLocally } from '../../workers/replies/reply.ts';

export const K = 3;
export const BUDGET_TOKENS = 6000;
export const TIMEOUT_MS = 30_000;
export const AGENT = 'coder';

/** What a proposal may rest on: the same as in the product. */
export interface Basis {
  vote: Vote;
  pairs: readonly Pair[];
  /** What is left of prompt and memory after screening. */
  material: FittedMaterial;
}

/** Proposes replies to a prompt. */
export type Predictor = (prompt: string, basis: Basis) => Promise<Proposed>;

/** Of a provider: it is asked as the product asks it; without a model the person's own replies vote. */
export function predicting(provider: Provider, model: string): Predictor {
  const { ask } = provider;
  if (ask === null) return async (prompt, { vote, pairs }) => proposeLocally(prompt, vote, pairs.length, K);
  return async (_, { material }) => {
    const question = replyQuestion(material, { agent: AGENT, k: K });
    const charge = { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'reply' };
    const call = { model, signal: new AbortController().signal, timeoutMs: TIMEOUT_MS, charge };
    const answer = await ask(question, call).catch(nothing);
    if (answer?.state !== 'answered') return { candidates: [], closed: false, reason: 'no answer' };
    return { ...readReply(answer.value, K), reason: '' };
  };
}

/** A fault of the provider is no prediction; that it happened is counted where the provider is called. */
function nothing(error: unknown): undefined {
  if (!(error instanceof ProviderError)) throw error;
}

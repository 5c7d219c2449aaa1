import { fitContext } from '../shared/domain/context-envelope.ts';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';
import { createProviders } from '../workers/providers/providers.ts';

const CONTEXT_BUDGET_TOKENS = 6000;
const TIMEOUT_MS = 8000;
const CHARGE = { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'predict' };

/**
 * Calls the provider as the product does: same prompt, same SDK and settings, same parsing of the answer. The targets then
 * differ only in what is between the caller and this.
 */
export function createAsk(baseUrl: string): (request: PredictionRequest) => Promise<string> {
  const provider = createProviders({ openai: { apiKey: 'sk-bench', baseUrl } })('bench');
  return async (request) => {
    const { task } = fitContext(request, CONTEXT_BUDGET_TOKENS);
    const { signal } = new AbortController();
    const guess = await provider.predict(task, {
      model: 'bench',
      signal,
      timeoutMs: TIMEOUT_MS,
      charge: CHARGE,
    });
    return guess.completion;
  };
}

import type { Completion, Question } from './chat.ts';
import type { AskModel } from './dialects.ts';
import { type CallLimits, isOutage, type Provider, SHORTEST_CALL_MS } from './provider.ts';

export type AskWithFallback = (
  question: Question,
  call: CallLimits,
) => Promise<Completion & { model: string }>;

/**
 * Asks the requested model, then the others in order, while the provider has an outage and there is time. If no model
 * answers, throws the first model's error.
 */
export function withFallback(ask: AskModel, others: readonly string[]): AskWithFallback {
  return async (question, call) => {
    const until = performance.now() + call.timeoutMs;
    let firstError: unknown;
    for (const model of new Set([call.model, ...others])) {
      const timeoutMs = until - performance.now();
      if (firstError !== undefined && timeoutMs < SHORTEST_CALL_MS) break;
      try {
        return { ...(await ask(question, { ...call, model, timeoutMs })), model };
      } catch (error) {
        if (!isOutage(error)) throw firstError ?? error;
        firstError ??= error;
      }
    }
    throw firstError;
  };
}

/** Predicts with the built-in predictor during an outage of the provider. Structured questions still fail. */
export function withLocalFallback(provider: Provider, local: Provider): Provider {
  return {
    ask: provider.ask,
    async predict(task, call) {
      try {
        return await provider.predict(task, call);
      } catch (error) {
        if (!isOutage(error)) throw error;
        return local.predict(task, call);
      }
    },
  };
}

import type { WorkerConfig } from '../../shared/config/config.ts';
import { fitContext, type PredictionTask } from '../../shared/domain/context-envelope.ts';
import { decide, hasNothingToWorkOn } from '../../shared/domain/decision.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import type { Allowance, Handler } from '../consumer.ts';
import { type Guess, type Provider, ProviderError, type ProviderFault } from '../providers/provider.ts';

/** With less than this left a further attempt cannot help. */
const SHORTEST_ATTEMPT_MS = 250;

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'prediction_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

type Settings = Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs' | 'contextBudgetTokens'>;

/** The story of one prediction: cut the context to the budget, ask the model, decide whether its guess is worth showing. */
export function createPredict(provider: Provider, settings: Settings, log: Log): Handler {
  return async (claim, allowance) => {
    // Written by the ingress in its canonical form, after validation.
    const request = JSON.parse(claim.request) as PredictionRequest;
    if (hasNothingToWorkOn(request)) return { state: 'abstained', truncated: false, providerMs: null };
    const { task, truncated } = fitContext(request, settings.contextBudgetTokens, claim.memory);
    const since = performance.now();
    const providerMs = () => Math.round(performance.now() - since);
    try {
      const guess = await ask(provider, task, settings, allowance);
      const { state, completion } = decide(guess, request, claim.minConfidence);
      const facts = { truncated, providerMs: providerMs() };
      return state === 'suggested' ? { state, answer: completion, ...facts } : { state, ...facts };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      log.warn(
        { prediction: claim.id, fault: error.fault, reason: error.message },
        'provider gave no answer',
      );
      return { state: 'failed', ...FAILURES[error.fault], providerMs: providerMs() };
    }
  };
}

/** An attempt that timed out is followed by another while there is time; every other fault travels at once. */
async function ask(
  provider: Provider,
  task: PredictionTask,
  settings: Settings,
  allowance: Allowance,
): Promise<Guess> {
  const { signal, leftMs } = allowance;
  for (;;) {
    try {
      const timeoutMs = Math.min(settings.providerTimeoutMs, leftMs());
      return await provider.predict(task, { model: settings.defaultModel, signal, timeoutMs });
    } catch (error) {
      const again =
        error instanceof ProviderError && error.fault === 'timeout' && leftMs() > SHORTEST_ATTEMPT_MS;
      if (!again) throw error;
    }
  }
}

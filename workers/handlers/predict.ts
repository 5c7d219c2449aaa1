import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import type { ConnectedContext } from '../../shared/db/stores/memory/context.ts';
import { fitContext, type PredictionTask, questionOf } from '../../shared/domain/context-envelope.ts';
import { decide, hasNothingToWorkOn } from '../../shared/domain/decision.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import type { predict } from '../../shared/work/kinds.ts';
import {
  type Charge,
  type Guess,
  type Provider,
  ProviderError,
  type ProviderFault,
} from '../providers/provider.ts';
import type { Handler, Time } from '../work/handler.ts';

/** With less time left another attempt is pointless. */
const SHORTEST_ATTEMPT_MS = 250;

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'prediction_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

type Settings = Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs' | 'contextBudgetTokens'>;

/** Reads what the memory that a connection grants has for a question. */
export type ReadMemory = (connectionId: string, question: string) => Promise<ConnectedContext>;

const UNCONNECTED: ConnectedContext = { bundle: null, profileRevision: 'none', grantRevision: 0 };

/** One prediction: fits the context to the budget, asks the model, decides whether its guess is worth showing. */
export function createPredict(
  provider: Provider,
  readMemory: ReadMemory,
  settings: Settings,
  log: Log,
): Handler<typeof predict, Time> {
  return async ({ id, party, attempt, input, facts, connectionId }, time) => {
    // The ingress wrote it in canonical form, after validation.
    const request = JSON.parse(input) as PredictionRequest;
    const { bundle, ...revisions } =
      connectionId === null
        ? UNCONNECTED
        : await persistently(
            () => readMemory(connectionId, questionOf(request)),
            performance.now() + time.leftMs(),
          );
    if (hasNothingToWorkOn(request))
      return { state: 'abstained', report: { ...revisions, contextTruncated: false, providerMs: null } };
    const { task, truncated } = fitContext(request, settings.contextBudgetTokens, bundle);
    const since = performance.now();
    const report = () => ({
      ...revisions,
      contextTruncated: truncated,
      providerMs: Math.round(performance.now() - since),
    });
    try {
      const charge = { accountId: null, appId: party, workId: id, attempt, kind: 'predict' };
      const guess = await ask(provider, task, settings, time, charge);
      const { state, completion } = decide(guess, request, facts.minConfidence);
      return state === 'suggested'
        ? { state, settle: true, answer: completion, report: report() }
        : { state, report: report() };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { fault, retryAfterMs } = error;
      log.warn({ prediction: id, fault, reason: error.message }, 'provider failed');
      return { state: 'failed', ...FAILURES[fault], retryAfterMs, report: report() };
    }
  };
}

/** Retries after a timeout while there is time; any other fault fails at once. */
async function ask(
  provider: Provider,
  task: PredictionTask,
  settings: Settings,
  time: Time,
  charge: Charge,
): Promise<Guess> {
  const { signal, leftMs } = time;
  for (;;) {
    try {
      const timeoutMs = Math.min(settings.providerTimeoutMs, leftMs());
      return await provider.predict(task, { model: settings.defaultModel, signal, timeoutMs, charge });
    } catch (error) {
      const again =
        error instanceof ProviderError && error.fault === 'timeout' && leftMs() > SHORTEST_ATTEMPT_MS;
      if (!again) throw error;
    }
  }
}

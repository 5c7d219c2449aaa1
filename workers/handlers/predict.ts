import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import type { ConnectedContext } from '../../shared/db/stores/memory/context.ts';
import { fitContext, questionOf } from '../../shared/domain/context-envelope.ts';
import { decide, hasNothingToWorkOn } from '../../shared/domain/decision.ts';
import type { Log } from '../../shared/log.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import type { predict } from '../../shared/work/kinds.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import type { Handler, Time } from '../work/handler.ts';
import { failureOf, inAttempts } from './asking.ts';
import type { Reader } from './reads.ts';

type Settings = Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs' | 'contextBudgetTokens'>;

/** Reads what the memory that a connection grants has for a question. */
export type ReadMemory = (reader: Reader, question: string) => Promise<ConnectedContext>;

const UNCONNECTED: ConnectedContext = { bundle: null, profileRevision: 'none', grantRevision: 0 };

/** One prediction: fits the context to the budget, asks the model, decides whether its guess is worth showing. */
export function createPredict(
  provider: Provider,
  readMemory: ReadMemory,
  settings: Settings,
  log: Log,
): Handler<typeof predict, Time> {
  return async ({ id, party, attempt, input, facts, connectionId }, { signal, leftMs }) => {
    // The ingress wrote it in canonical form, after validation.
    const request = JSON.parse(input) as PredictionRequest;
    const { bundle, ...revisions } =
      connectionId === null
        ? UNCONNECTED
        : await persistently(
            () => readMemory({ party, memory: connectionId, gone: signal }, questionOf(request)),
            performance.now() + leftMs(),
          );
    if (hasNothingToWorkOn(request))
      return { state: 'abstained', report: { ...revisions, contextTruncated: false, providerMs: null } };
    const { task, truncated } = fitContext(request, settings.contextBudgetTokens, bundle);
    const since = performance.now();
    const report = () => ({
      ...revisions,
      contextTruncated: truncated || (bundle?.meta.timed_out ?? false),
      providerMs: Math.round(performance.now() - since),
    });
    try {
      const charge = { accountId: null, appId: party, workId: id, attempt, kind: 'predict' };
      const { defaultModel: model, providerTimeoutMs } = settings;
      const guess = await inAttempts(leftMs, () => {
        const timeoutMs = Math.min(providerTimeoutMs, leftMs());
        return provider.predict(task, { model, signal, timeoutMs, charge });
      });
      const { state, completion } = decide(guess, request, facts.minConfidence);
      return state === 'suggested'
        ? { state, settle: true, answer: completion, report: report() }
        : { state, report: report() };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      log.warn({ prediction: id, fault: error.fault, reason: error.message }, 'provider failed');
      return { ...failureOf(error), report: report() };
    }
  };
}

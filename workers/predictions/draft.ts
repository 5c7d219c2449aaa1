import { retryUntil } from '../../shared/db/retries.ts';
import type { Verdicts } from '../../shared/db/stores/prediction-events.ts';
import type { ContextBundle } from '../../shared/domain/context-bundle.ts';
import { fitContext, type RecalledPhrase } from '../../shared/domain/context-envelope.ts';
import type { DraftReport, DraftTexts } from '../../shared/domain/prediction.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { End } from '../../shared/domain/work.ts';
import { ALTERNATIVES_MAX, MIN_CONFIDENCE } from '../../shared/schemas/limits.ts';
import { pseudonym } from '../../shared/security/fingerprint.ts';
import { draft } from '../../shared/work/kinds.ts';
import {
  chargeOfAccount,
  type Guess,
  NO_USAGE,
  type Provider,
  providerFailureEnd,
  retryAfterTimeouts,
} from '../providers/provider.ts';
import type { AttemptContext, Handler } from '../work/handler.ts';
import type { Reader } from '../work/reads.ts';
import { decideCompletion, hasNothingToWorkOn } from './decide.ts';
import { type MemoryRequest, type PredictionSettings, toMemoryRequest } from './predict.ts';
import { predictionQuestion } from './prompt.ts';
import { judgedConfidence } from './verdicts.ts';

type ReadMemory = (
  reader: Reader,
  request: MemoryRequest,
) => Promise<{
  bundle: ContextBundle;
  phrases: readonly RecalledPhrase[];
  verdicts: Verdicts;
}>;

/**
 * Creates the handler of draft predictions that an account requests for itself, without an app. The model gets the same
 * question as for a connected app. The answer shows what the model was sent.
 */
export function createDraftHandler(
  provider: Provider,
  readMemory: ReadMemory,
  settings: PredictionSettings,
): Handler<typeof draft, AttemptContext> {
  const { tabModel: model, providerTimeoutMs, contextBudgetTokens } = settings;
  return async (claim, { signal, leftMs, log }) => {
    const { party } = claim;
    const { draft: text, ...rest } = claim.input.take();
    const request = { ...rest, draft: { text, revision: 0 }, artifact: null, user_preferences: '' };
    const begunAt = performance.now();
    const { bundle, phrases, verdicts } = await retryUntil(
      () => readMemory({ party, memory: party, gone: signal }, toMemoryRequest(request)),
      begunAt + leftMs(),
    );
    const readAt = performance.now();
    const { task, truncated, used } = fitContext(request, contextBudgetTokens, bundle);
    const end = (guess: Guess, state: 'suggested' | 'abstained', texts: DraftTexts): End<DraftReport> => {
      const recalled = guess.model === LOCAL_MODEL ? phrases.map(({ source }) => source) : [];
      const context = {
        profile: used.profile,
        fact_ids: used.facts,
        episode_ids: used.episodes,
        raw_ids: [...new Set([...used.raw, ...recalled])],
        truncated,
      };
      const report = {
        confidence: guess.confidence,
        model: guess.model,
        usage: { input_tokens: guess.usage.inputTokens, output_tokens: guess.usage.outputTokens },
        context,
        memoryMs: Math.round(readAt - begunAt),
        modelMs: Math.round(performance.now() - readAt),
      };
      return { state, answer: JSON.stringify(texts), madeFrom: context, report };
    };
    if (hasNothingToWorkOn(request)) {
      const emptyGuess = { completion: '', confidence: 0, model, usage: NO_USAGE };
      return end(emptyGuess, 'abstained', { completion: '', alternatives: [], sent: [] });
    }
    const sent = model === LOCAL_MODEL ? [] : [...predictionQuestion(task).messages];
    try {
      const charge = chargeOfAccount(claim);
      const cacheKey = pseudonym(party, '', '');
      const local = { phrases, minConfidence: MIN_CONFIDENCE, ...verdicts };
      const guess = await retryAfterTimeouts(leftMs, providerTimeoutMs, (timeoutMs) =>
        provider.predict(
          { ...task, alternatives: ALTERNATIVES_MAX, local },
          { model, signal, timeoutMs, charge, cacheKey },
        ),
      );
      const { state, completion, alternatives } = decideCompletion(
        { ...guess, confidence: judgedConfidence(guess, verdicts) },
        request,
        MIN_CONFIDENCE,
      );
      return end(guess, state, { completion, alternatives, sent });
    } catch (error) {
      return providerFailureEnd(error, draft, log);
    }
  };
}

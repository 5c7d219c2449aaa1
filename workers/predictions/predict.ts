import type { WorkerConfig } from '../../shared/config/config.ts';
import { type AccessLog, readsOf } from '../../shared/db/access-log.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import type { ConnectedContext } from '../../shared/db/stores/memory/context.ts';
import { fitContext, questionOf, type RecalledPhrase } from '../../shared/domain/context-envelope.ts';
import { joinChoices } from '../../shared/domain/prediction.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { PredictionInput } from '../../shared/schemas/predictions.ts';
import { pseudonym } from '../../shared/security/fingerprint.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { predict } from '../../shared/work/kinds.ts';
import { type Provider, providerFailureEnd, retryAfterTimeouts } from '../providers/provider.ts';
import type { AttemptContext, Handler } from '../work/handler.ts';
import type { Reader } from '../work/reads.ts';
import { decideCompletion, hasNothingToWorkOn } from './decide.ts';
import { bringsBack, continueAnswer, parseRecalled } from './earlier-answer.ts';
import { judgedConfidence } from './verdicts.ts';

export type PredictionSettings = Pick<WorkerConfig, 'tabModel' | 'providerTimeoutMs' | 'contextBudgetTokens'>;

/**
 * A request with its search terms for memory: `question` is a text, and `tails` are ends of the draft, to look up
 * phrases that continue them.
 */
export interface MemoryRequest<Request = Pick<PredictionInput, 'draft' | 'messages' | 'project'>> {
  request: Request;
  question: string;
  tails: readonly string[];
}

interface RememberedContext extends ConnectedContext {
  phrases: readonly RecalledPhrase[];
}

type ReadMemory = (reader: Reader, request: MemoryRequest<PredictionInput>) => Promise<RememberedContext>;

const NOTHING_REMEMBERED: RememberedContext = {
  bundle: null,
  phrases: [],
  accountId: null,
  profileRevision: 'none',
  grantRevision: 0,
};

export function createPredictHandler(
  provider: Provider,
  readMemory: ReadMemory,
  accesses: Pick<AccessLog, 'add'>,
  settings: PredictionSettings,
): Handler<typeof predict, AttemptContext> {
  return async ({ id, party, attempt, input, facts, connectionId, recalled }, { signal, leftMs, log }) => {
    const request = input.take();
    const { bundle, phrases, accountId, ...revisions } =
      connectionId === null
        ? NOTHING_REMEMBERED
        : await retryUntil(
            () => readMemory({ party, memory: connectionId, gone: signal }, toMemoryRequest(request)),
            performance.now() + leftMs(),
          );
    if (hasNothingToWorkOn(request))
      return { state: 'abstained', report: { ...revisions, contextTruncated: false, providerMs: null } };
    const { earlier, refused, ...counts } = parseRecalled(recalled);
    const continued = earlier && continueAnswer(earlier, request, facts, { ...revisions, refused });
    if (continued !== undefined) return continued;
    const { minConfidence } = facts;
    const { task: fittedTask, truncated, used } = fitContext(request, settings.contextBudgetTokens, bundle);
    if (accountId !== null && connectionId !== null) {
      const recalled = settings.tabModel === LOCAL_MODEL ? phrases.map(({ source }) => source) : [];
      const rows = { ...used, raw: [...new Set([...used.raw, ...recalled])] };
      accesses.add({ accountId, reader: 'app', readerId: connectionId }, readsOf(rows));
    }
    const { alternatives } = facts;
    const task = { ...fittedTask, alternatives, local: { phrases, minConfidence, ...counts } };
    const since = performance.now();
    const report = () => ({
      ...revisions,
      contextTruncated: truncated,
      providerMs: Math.round(performance.now() - since),
    });
    try {
      const charge = { accountId: null, appId: party, workId: id, attempt, kind: 'predict' };
      const cacheKey = pseudonym(party, request.user_id, request.session_id);
      const { tabModel: model, providerTimeoutMs } = settings;
      const guess = await retryAfterTimeouts(leftMs, providerTimeoutMs, (timeoutMs) =>
        provider.predict(task, { model, signal, timeoutMs, charge, cacheKey }),
      );
      const isRefused = (text: string) =>
        refused.includes(text) ||
        (earlier !== undefined && bringsBack(earlier, request.draft.text, facts, text));
      const shown = alternatives > 0 ? { ...guess, confidence: guess.together ?? guess.confidence } : guess;
      const judged = { ...shown, confidence: judgedConfidence(shown, counts) };
      const { state, completion, ...others } = decideCompletion(judged, request, minConfidence, isRefused);
      const answer = joinChoices(completion, others.alternatives);
      if (state === 'suggested') return { state, settle: true, answer, report: report() };
      // The built-in predictor costs nothing, so it may be asked again at the next key.
      const isRemembered = guess.model !== LOCAL_MODEL && facts.mode === 'complete_draft';
      return { state, ...(isRemembered && { answer }), report: report() };
    } catch (error) {
      return { ...providerFailureEnd(error, predict, log), report: report() };
    }
  };
}

export function toMemoryRequest<Request extends MemoryRequest['request']>(
  request: Request,
): MemoryRequest<Request> {
  return { request, question: questionOf(request), tails: draftEndOf(request.draft.text).tails };
}

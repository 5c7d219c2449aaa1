import type { ModelPrices } from '../../shared/config/model-prices.ts';
import { type CallOutcome, costOf, estimateTokens } from '../../shared/domain/provider-call.ts';
import { newId } from '../../shared/ids.ts';
import type { Chat, ChatRequest } from './chat.ts';
import type { CallLedger } from './ledger.ts';
import { type Call, ProviderError, type Usage } from './provider.ts';

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** Books each request that is sent, whatever comes of it. One that was not waited for is estimated: it may cost as much. */
export function metered(chat: Chat, ledger: Pick<CallLedger, 'add'>, prices: ModelPrices): Chat {
  return async (request, call) => {
    call.signal.throwIfAborted();
    const sentAt = performance.now();
    const book = (outcome: CallOutcome, usage: Usage) =>
      ledger.add(bookedCall(call, outcome, usage, { prices, latencyMs: performance.now() - sentAt }), sentAt);
    try {
      const completion = await chat(request, call);
      book(completion.state === 'written' ? 'answered' : completion.state, completion.usage);
      return completion;
    } catch (error) {
      const outcome = call.signal.aborted ? 'aborted' : outcomeOf(error);
      book(outcome, isGivenUp(outcome) ? estimated(request) : NOTHING);
      throw error;
    }
  };
}

function bookedCall(
  { model, charge }: Call,
  outcome: CallOutcome,
  usage: Usage,
  { prices, latencyMs }: { prices: ModelPrices; latencyMs: number },
) {
  return {
    id: newId(),
    account_id: charge.accountId,
    app_id: charge.appId,
    kind: charge.kind,
    work_id: charge.workId,
    attempt: charge.attempt,
    model,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_microcents: costOf(prices.get(model), usage),
    aborted: isGivenUp(outcome),
    outcome,
    latency_ms: Math.round(latencyMs),
  };
}

function outcomeOf(error: unknown): CallOutcome {
  return error instanceof ProviderError ? error.fault : 'failed';
}

/** The provider may still be working on the answer. */
function isGivenUp(outcome: CallOutcome): boolean {
  return outcome === 'aborted' || outcome === 'timeout';
}

/** What the provider has read; what it would have written is unknown. */
function estimated({ messages, schema }: ChatRequest): Usage {
  const texts = [JSON.stringify(schema), ...messages.map(({ content }) => content)];
  return { inputTokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0), outputTokens: 0 };
}

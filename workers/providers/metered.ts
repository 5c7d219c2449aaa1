import type { ModelPrices } from '../../shared/config/model-prices.ts';
import type { BookedCall } from '../../shared/db/stores/provider-calls.ts';
import { type CallOutcome, costOf, estimateTokens } from '../../shared/domain/provider-call.ts';
import { newId } from '../../shared/ids.ts';
import type { Chat, ChatRequest } from './chat.ts';
import type { CallLedger } from './ledger.ts';
import { type Call, ProviderError, type Usage } from './provider.ts';

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/**
 * Books each request that is sent, whatever comes of it. Where the provider may charge for an answer but its count cannot
 * be read, because nobody waited for it or it came broken, what it has read is estimated.
 */
export function metered(chat: Chat, ledger: Pick<CallLedger, 'add'>, prices: ModelPrices): Chat {
  return async (request, call) => {
    call.signal.throwIfAborted();
    const sentAt = performance.now();
    const book = (outcome: CallOutcome, counted: Usage | null) => {
      const usage = counted ?? estimated(request);
      const row = {
        outcome,
        usage,
        aborted: counted === null,
        cost: costOf(prices.get(call.model), usage),
        latencyMs: performance.now() - sentAt,
      };
      ledger.add(bookedCall(call, row), sentAt);
    };
    try {
      const completion = await chat(request, call);
      book(completion.state === 'written' ? 'answered' : completion.state, completion.usage);
      return completion;
    } catch (error) {
      if (call.signal.aborted) book('aborted', null);
      else if (!(error instanceof ProviderError)) book('failed', NOTHING);
      else if (error.charged !== undefined) book('unusable', error.charged);
      else book(error.fault, error.fault === 'timeout' ? null : NOTHING);
      throw error;
    }
  };
}

interface Booking {
  outcome: CallOutcome;
  usage: Usage;
  aborted: boolean;
  cost: number | null;
  latencyMs: number;
}

function bookedCall(
  { model, charge }: Call,
  { outcome, usage, aborted, cost, latencyMs }: Booking,
): BookedCall {
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
    cost_microcents: cost,
    aborted,
    outcome,
    latency_ms: Math.round(latencyMs),
  };
}

/** What the provider has read; what it would have written is unknown. */
function estimated({ messages, schema }: ChatRequest): Usage {
  const texts = [JSON.stringify(schema), ...messages.map(({ content }) => content)];
  return { inputTokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0), outputTokens: 0 };
}

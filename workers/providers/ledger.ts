import type { ModelPrices } from '../../shared/config/provider.ts';
import type { LedgerEntry } from '../../shared/db/stores/provider-calls.ts';
import { type CallOutcome, costOf, estimateUnreportedTokens } from '../../shared/domain/provider-call.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { newId } from '../../shared/ids.ts';
import type { Log } from '../../shared/log.ts';
import { observeCall } from '../../shared/metrics/provider.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';
import { retry } from '../../shared/timing/retry.ts';
import { describeSpan, failSpan, inSpan } from '../../shared/tracing/span.ts';
import type { Chat, ChatRequest, Completion } from './chat.ts';
import { type CallLimits, NO_USAGE, ProviderError, type Usage } from './provider.ts';

const FLUSH_EVERY_MS = 200;
const BATCH_CALLS_MAX = 500;
const BUFFERED_CALLS_MAX = 20_000;
const CLOSE_TIMEOUT_MS = 2000;
const CLOSE_RETRY = { firstMs: 100, longestMs: 100 };

/** Stores calls in the ledger. `ageMs` is the time since the call was sent. Safe to repeat. */
export type StoreEntries = (calls: (LedgerEntry & { ageMs: number })[]) => Promise<void>;

/**
 * Buffers calls to providers, and stores them five times a second and when the process stops. A killed process or a
 * long database outage loses some: the ledger is an estimate, not a bill.
 */
export class CallLedger {
  readonly #storeEntries: StoreEntries;
  readonly #log: Log;
  readonly #flushes: Repetition;
  #buffer: { call: LedgerEntry; sentAt: number }[] = [];
  #lostCount = 0;

  constructor(storeEntries: StoreEntries, log: Log) {
    this.#storeEntries = storeEntries;
    this.#log = log;
    const onError = (error: unknown) =>
      log.warn({ err: error, calls: this.#buffer.length }, 'could not book calls to the provider yet');
    this.#flushes = every(FLUSH_EVERY_MS, () => this.#flush(), { onError, ref: false });
  }

  /** `sentAt` is from `performance.now()`. */
  add(call: LedgerEntry, sentAt: number): void {
    if (this.#buffer.length < BUFFERED_CALLS_MAX) this.#buffer.push({ call, sentAt });
    else this.#lostCount += 1;
  }

  async close(): Promise<void> {
    await this.#flushes.stop();
    const until = performance.now() + CLOSE_TIMEOUT_MS;
    await retry(() => this.#flush(), { ...CLOSE_RETRY, until }).catch((error: unknown) =>
      this.#log.warn(
        { err: error, calls: this.#buffer.length },
        'calls to the provider are lost to the ledger',
      ),
    );
  }

  async #flush(): Promise<void> {
    while (this.#buffer.length > 0) {
      const batch = this.#buffer.slice(0, BATCH_CALLS_MAX);
      const now = performance.now();
      await this.#storeEntries(batch.map(({ call, sentAt }) => ({ ...call, ageMs: now - sentAt })));
      this.#buffer.splice(0, batch.length);
    }
    if (this.#lostCount > 0)
      this.#log.warn({ calls: this.#lostCount }, 'calls to the provider are lost to the ledger');
    this.#lostCount = 0;
  }
}

/**
 * Books each request, whatever its outcome. Estimates the tokens of a request if its caller left, its time ended, its
 * answer cannot be read or states no count, since the provider may charge for them.
 */
export function withLedger(chat: Chat, ledger: Pick<CallLedger, 'add'>, prices: ModelPrices): Chat {
  const send: Chat = async (request, call) => {
    const sentAt = performance.now();
    const book = (outcome: CallOutcome, countedUsage: Usage | null, answeredBy?: string) => {
      describeCall(outcome, countedUsage, answeredBy);
      const usage = countedUsage ?? estimatedUsage(request);
      const { model, charge } = call;
      const aborted = countedUsage === null;
      const cost = costOf(prices.get(model), usage);
      const latencyMs = performance.now() - sentAt;
      observeCall({ model, outcome, usage, cost, latencyMs });
      ledger.add(
        {
          id: newId(),
          ...charge,
          model,
          ...usage,
          costMicrocents: cost,
          aborted,
          outcome,
          latencyMs: Math.round(latencyMs),
        },
        sentAt,
      );
    };
    try {
      const completion = await chat(request, call);
      const { state, usage, answeredBy } = completion;
      book(state === 'written' ? 'answered' : state, usage, answeredBy);
      return completion;
    } catch (error) {
      if (call.signal.aborted) book('aborted', null);
      else if (!(error instanceof ProviderError)) book('failed', NO_USAGE);
      else if (error.charged !== undefined) book('unusable', error.charged);
      else book(error.fault, error.fault === 'timeout' ? null : NO_USAGE);
      throw error;
    }
  };
  return async (request, call) => {
    call.signal.throwIfAborted();
    return inCallSpan(request, call, () => send(request, call));
  };
}

/**
 * Rejects a call of an account with `quota_exceeded` once the tokens of the day are used up, so that work admitted
 * before does not exceed them by more than the calls in flight and those of the last `FLUSH_EVERY_MS`.
 */
export function withinTokens(chat: Chat, usedUpForS: (accountId: string) => Promise<number | null>): Chat {
  return async (request, call) => {
    const { accountId } = call.charge;
    const retryAfterS = accountId === null ? null : await usedUpForS(accountId);
    if (retryAfterS !== null) throw new AppError('quota_exceeded', { retryAfterS });
    return chat(request, call);
  };
}

/** Follows OpenTelemetry's GenAI conventions. The span contains no text of the request. */
function inCallSpan(
  { format, maxTokens }: ChatRequest,
  { model }: CallLimits,
  send: () => Promise<Completion>,
): Promise<Completion> {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.output.type': format === 'text' ? 'text' : 'json',
  };
  return inSpan(`chat ${model}`, { kind: 'CLIENT', attributes }, send);
}

const FINISH_REASONS: Partial<Record<CallOutcome, string>> = {
  answered: 'stop',
  cut_off: 'length',
  refused: 'content_filter',
};

/** `usage` is null if the provider did not report it. */
function describeCall(outcome: CallOutcome, usage: Usage | null, answeredBy?: string): void {
  const finish = FINISH_REASONS[outcome];
  describeSpan({
    'gen_ai.response.model': answeredBy,
    'gen_ai.response.finish_reasons': finish === undefined ? undefined : [finish],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'forecue.provider.outcome': outcome,
  });
  // A call that its caller cancelled does not count as a failure.
  if (finish === undefined && outcome !== 'aborted') failSpan(outcome);
}

/** Estimates the tokens that the provider has read; the number that it wrote is unknown. */
function estimatedUsage({ messages, schema }: ChatRequest): Usage {
  const texts = [JSON.stringify(schema), ...messages.map(({ content }) => content)];
  return { ...NO_USAGE, inputTokens: texts.reduce((sum, text) => sum + estimateUnreportedTokens(text), 0) };
}

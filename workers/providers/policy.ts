import type { Log } from '../../shared/log.ts';
import { watchCircuits } from '../../shared/metrics/provider.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import type { Chat } from './chat.ts';
import { Circuit } from './circuit.ts';
import { DialectRefused } from './dialects.ts';
import { type CallLimits, type Charge, ProviderError } from './provider.ts';

export interface PolicyOptions {
  /** Maximum number of concurrent calls. */
  concurrency: number | undefined;
  probeEveryMs: number;
  /** A timeout counts as a failure of the provider only if the call had at least this time limit. */
  fairTimeoutMs: number;
  log: Log;
}

export function withPolicy(chat: Chat, policy: ProviderPolicy): Chat {
  return async (request, call) => {
    const until = performance.now() + call.timeoutMs;
    const permit = await policy.enter(call);
    const sentCall = { ...call, timeoutMs: until - performance.now() };
    try {
      if (sentCall.timeoutMs <= 0) throw new ProviderError('timeout', 'not called: no time left');
      const completion = await chat(request, sentCall);
      policy.noteSuccess(sentCall);
      return completion;
    } catch (error) {
      // A refused dialect counts as a success, because the server has answered. As a failure, it would keep an open
      // circuit open before the next dialect is tried.
      if (error instanceof DialectRefused) policy.noteSuccess(sentCall);
      else policy.noteFailure(sentCall, error);
      throw error;
    } finally {
      permit.release();
    }
  };
}

/**
 * Limits the calls of this process to its provider. A model gets no call during a pause that its provider asked for.
 * After too many failures in a row, apps and accounts whose calls failed may send only one probe per interval.
 */
export class ProviderPolicy {
  readonly #options: PolicyOptions;
  readonly #circuits = new Map<string, Circuit>();
  readonly #limiter: ConcurrencyLimiter;
  readonly #metrics = watchCircuits(this.#circuits);

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#limiter = new ConcurrencyLimiter({ capacity: options.concurrency ?? Number.POSITIVE_INFINITY });
  }

  close(): void {
    this.#metrics.close();
  }

  /**
   * Resolves when the call may be sent. Rejects with a `ProviderError`: at once if the model is paused or its circuit
   * is open for the caller; with the fault `timeout` if the call's time limit ends first.
   */
  async enter({ model, signal, charge, timeoutMs }: CallLimits): Promise<Permit> {
    const party = partyOf(charge);
    // A call that will be refused should not wait for a permit.
    this.#circuits.get(model)?.check(party);
    const permit = await this.#limiter.acquire({ party, gone: signal, waitMs: timeoutMs }).catch(() => {
      signal.throwIfAborted();
      throw new ProviderError('timeout', 'not called: no free place');
    });
    try {
      this.#circuits.get(model)?.enter(party);
      return permit;
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  noteSuccess({ model }: CallLimits): void {
    const circuit = this.#circuits.get(model);
    if (circuit?.isOpen) this.#options.log.info({ model }, 'circuit closed: the provider answers again');
    circuit?.noteSuccess();
  }

  /** Ignores failures that the request, the caller or a short time limit may have caused. */
  noteFailure({ model, timeoutMs, signal, charge }: CallLimits, error: unknown): void {
    const { probeEveryMs, fairTimeoutMs, log } = this.#options;
    if (signal.aborted || !(error instanceof ProviderError) || !error.outage) return;
    if (error.fault === 'timeout' && timeoutMs < fairTimeoutMs) return;
    const circuit = this.#circuits.get(model) ?? new Circuit(probeEveryMs);
    this.#circuits.set(model, circuit);
    const wasOpen = circuit.isOpen;
    circuit.noteFailure(partyOf(charge), error.fault, error.retryAfterMs);
    if (circuit.isOpen && !wasOpen)
      log.warn({ model }, 'circuit open: the provider failed too often in a row');
  }
}

function partyOf({ appId, accountId }: Charge): string {
  return appId ?? accountId ?? '';
}

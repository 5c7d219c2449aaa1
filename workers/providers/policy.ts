import { hash } from 'node:crypto';
import type { CircuitNews, CircuitSettings, CircuitState } from '../../shared/db/stores/provider-circuits.ts';
import type { Log } from '../../shared/log.ts';
import { watchCircuits } from '../../shared/metrics/provider.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';
import type { Chat } from './chat.ts';
import { Circuit } from './circuit.ts';
import { DialectRefused } from './dialects.ts';
import { type CallLimits, type Charge, ProviderError } from './provider.ts';

/** Interval at which a worker reads the shared state, since an announcement may be lost. */
const POLL_EVERY_MS = 500;
/** A worker without calls for this time runs only one of every `IDLE_POLLS` polls. */
const IDLE_AFTER_MS = 10_000;
const IDLE_POLLS = 4;
const EXCHANGE_GAP_MS = 50;

/** State that all workers share. While the database cannot be reached, each worker uses only its own observations. */
export interface SharedPolicyState {
  /**
   * Adds the outcomes of this worker's calls. Resolves with the model's number of consecutive failures over all
   * workers.
   */
  report(news: CircuitNews): Promise<number>;
  read(): Promise<CircuitState[]>;
  claimProbe(model: string): Promise<boolean>;
  countWorkers(): Promise<number>;
  /** Makes the other workers read the state again. */
  announce(): Promise<void>;
}

export interface PolicyOptions {
  settings: CircuitSettings;
  /** Maximum number of concurrent calls, over all workers. */
  concurrency: number | undefined;
  /** A timeout counts as a failure of the provider only if the call had at least this time limit. */
  fairTimeoutMs: number;
  shared: SharedPolicyState;
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
 * Limits the calls of all workers to a provider. A model gets no call during a pause that its provider asked for. After
 * too many failures in a row, apps and accounts whose calls failed may send only one probe per interval. Without the
 * database, each worker relies on its own observations.
 */
export class ProviderPolicy {
  readonly #options: PolicyOptions;
  readonly #circuits = new Map<string, Circuit>();
  /** Gives this worker an equal share of `concurrency`, but at least one call. */
  readonly #limiter: ConcurrencyLimiter;
  /** Exchanges circuits with other workers, never concurrently, so that an older state never replaces a newer one. */
  readonly #exchanges = new Coalescer(() => this.#exchange(), EXCHANGE_GAP_MS);
  readonly #polls: Repetition;
  #sharedStateFailed = false;
  readonly #metrics = watchCircuits(this.#circuits);
  #usedAt = performance.now();
  #skippedPolls = 0;

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#limiter = new ConcurrencyLimiter({ capacity: options.concurrency ?? Number.POSITIVE_INFINITY });
    this.#polls = every(POLL_EVERY_MS, () => this.#poll(), { atOnce: true, ref: false });
  }

  startExchange(): void {
    void this.#exchanges.run();
  }

  #poll(): void {
    this.#skippedPolls += 1;
    if (performance.now() - this.#usedAt > IDLE_AFTER_MS && this.#skippedPolls < IDLE_POLLS) return;
    this.#skippedPolls = 0;
    this.startExchange();
  }

  async close(): Promise<void> {
    this.#metrics.close();
    await this.#polls.stop();
    await this.#exchanges.run();
  }

  /**
   * Resolves when the call may be sent. Rejects with a `ProviderError`: at once if the model is paused or its circuit
   * is open for the caller; with the fault `timeout` if the call's time limit ends first.
   */
  async enter({ model, signal, charge, timeoutMs }: CallLimits): Promise<Permit> {
    this.#usedAt = performance.now();
    const party = partyOf(charge);
    // A call that will be refused should not wait for a permit.
    this.#circuits.get(model)?.check(party);
    const permit = await this.#limiter.acquire({ party, gone: signal, waitMs: timeoutMs }).catch(() => {
      signal.throwIfAborted();
      throw new ProviderError('timeout', 'not called: no free place');
    });
    try {
      const circuit = this.#circuits.get(model);
      if (circuit?.check(party)) await this.#probe(model, party, circuit);
      return permit;
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  noteSuccess({ model }: CallLimits): void {
    const circuit = this.#circuits.get(model);
    if (circuit !== undefined && this.#update(model, circuit, () => circuit.noteSuccess()))
      this.startExchange();
  }

  /** Ignores failures that the request, the caller or a short time limit may have caused. */
  noteFailure({ model, timeoutMs, signal, charge }: CallLimits, error: unknown): void {
    if (signal.aborted || !(error instanceof ProviderError) || !error.outage) return;
    if (error.fault === 'timeout' && timeoutMs < this.#options.fairTimeoutMs) return;
    const circuit = this.#circuitOf(model);
    this.#update(model, circuit, () => circuit.noteFailure(partyOf(charge), error.fault, error.retryAfterMs));
    this.startExchange();
  }

  /** Resolves if the call may be sent, as the probe or because the circuit has closed; otherwise rejects. */
  async #probe(model: string, party: string, circuit: Circuit): Promise<void> {
    const isOurs = await circuit.whileClaimed(async () => {
      if (await this.#options.shared.claimProbe(model).catch(() => false)) return true;
      await this.#exchanges.run();
      return false;
    });
    if (isOurs) return;
    // While the database is out of reach, each worker probes without a claim.
    if (this.#sharedStateFailed) return;
    if (circuit.check(party)) throw circuit.refusal();
  }

  #circuitOf(model: string): Circuit {
    const known = this.#circuits.get(model);
    if (known !== undefined) return known;
    const circuit = new Circuit(model, this.#options.settings);
    this.#circuits.set(model, circuit);
    return circuit;
  }

  /** Reports this worker's news, and adopts the state that all workers have reported. Never rejects. */
  async #exchange(): Promise<void> {
    const { shared, log, concurrency } = this.#options;
    try {
      for (const circuit of this.#circuits.values()) await this.#report(circuit);
      const states = await shared.read();
      for (const { model } of states) this.#circuitOf(model);
      for (const [model, circuit] of this.#circuits) {
        const state = states.find((one) => one.model === model);
        this.#update(model, circuit, () => circuit.adopt(state));
      }
      if (concurrency !== undefined) {
        const workers = Math.max(1, await shared.countWorkers());
        this.#limiter.setCapacity(Math.max(1, Math.floor(concurrency / workers)));
      }
      this.#sharedStateFailed = false;
    } catch (error) {
      if (!this.#sharedStateFailed)
        log.warn({ err: error }, 'decides alone about the provider: other workers are out of reach');
      this.#sharedStateFailed = true;
    }
  }

  async #report(circuit: Circuit): Promise<void> {
    const { shared, settings, log } = this.#options;
    const news = circuit.takeNews();
    if (news === undefined) return;
    const failures = await shared.report(news).catch((error: unknown) => {
      circuit.returnNews(news);
      throw error;
    });
    const opened = failures >= settings.failuresToOpen && failures - news.failures < settings.failuresToOpen;
    if (opened || news.urgent)
      await shared
        .announce()
        .catch((error: unknown) => log.warn({ err: error }, 'could not announce the state of the provider'));
  }

  #update<T>(model: string, circuit: Circuit, change: () => T): T {
    const wasOpen = circuit.isOpen;
    const result = change();
    if (circuit.isOpen && !wasOpen)
      this.#options.log.warn({ model }, 'circuit open: the provider failed too often in a row');
    if (wasOpen && !circuit.isOpen)
      this.#options.log.info({ model }, 'circuit closed: the provider answers again');
    return result;
  }
}

/** Returns a hash, because circuits are stored, and an account's id must not outlive the account. */
function partyOf({ appId, accountId }: Charge): string {
  return hash('sha256', appId ?? accountId ?? '', 'base64url').slice(0, 16);
}

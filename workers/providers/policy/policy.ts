import { createHash } from 'node:crypto';
import type { CircuitNews, CircuitState, CircuitTerms } from '../../../shared/db/stores/provider-circuits.ts';
import { every, type Repeated } from '../../../shared/every.ts';
import type { Log } from '../../../shared/log.ts';
import { type Call, type Charge, ProviderError } from '../provider.ts';
import { Circuit } from './circuit.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { Paced } from './paced.ts';

/** Finds what no message announced. */
const POLL_EVERY_MS = 500;
/** A worker that has called no model for that long polls only every so many times. */
const IDLE_AFTER_MS = 10_000;
const IDLE_POLLS = 4;
/** At least so much time between two exchanges with the other workers. */
const GAP_MS = 50;

/** What the workers share. Each function may fail: then this one decides alone. */
export interface Shared {
  /** Adds news; returns the failures in a row that are known now. */
  report(news: CircuitNews): Promise<number>;
  read(): Promise<CircuitState[]>;
  claimProbe(model: string): Promise<boolean>;
  countWorkers(): Promise<number>;
  /** Has the other workers read again. */
  announce(): Promise<void>;
}

export interface PolicyOptions {
  terms: CircuitTerms;
  /** Most calls at once, over all workers. */
  concurrency: number | undefined;
  /** A time-out counts against the provider only if it had this long. */
  fairTimeoutMs: number;
  shared: Shared;
  log: Log;
}

/**
 * How all workers treat a provider: nobody calls a model that asked to be left alone, or that has failed too often in a
 * row, except for one probe per interval. A healthy model's calls wait for nothing: what others have seen arrives by
 * message or, when that is lost, by a poll. Without the database each worker goes by what it sees itself.
 */
export class ProviderPolicy {
  readonly #options: PolicyOptions;
  readonly #circuits = new Map<string, Circuit>();
  readonly #limit: ConcurrencyLimit | undefined;
  readonly #exchanges: Paced;
  readonly #polls: Repeated;
  #exchanged = Promise.resolve();
  /** The database was out of reach at the last exchange. */
  #alone = false;
  #usedAt = performance.now();
  #skipped = 0;

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#limit = options.concurrency === undefined ? undefined : new ConcurrencyLimit(options.concurrency);
    this.#exchanges = new Paced(GAP_MS, () => this.#exchange());
    this.#polls = every(POLL_EVERY_MS, () => this.#poll(), { atOnce: true, ref: false });
  }

  /** Exchanges what is known with the other workers, soon. */
  look(): void {
    this.#exchanges.ask();
  }

  #poll(): void {
    this.#skipped += 1;
    if (performance.now() - this.#usedAt > IDLE_AFTER_MS && this.#skipped < IDLE_POLLS) return;
    this.#skipped = 0;
    this.look();
  }

  async close(): Promise<void> {
    await this.#polls.stop();
    await this.#exchanges.stop();
  }

  /**
   * Waits until the call may be sent; returns what reports that it has ended. Throws a `ProviderError` at once while
   * nobody may call the model.
   */
  async enter({ model, signal, charge }: Call, until: number): Promise<() => void> {
    this.#usedAt = performance.now();
    // Whoever may not call need not wait for a place either.
    this.#circuits.get(model)?.check(partyOf(charge));
    const leave = await this.#limit?.acquire(partyOf(charge), signal, until);
    try {
      const circuit = this.#circuits.get(model);
      if (circuit?.check(partyOf(charge))) await this.#probe(model, partyOf(charge), circuit);
    } catch (error) {
      leave?.();
      throw error;
    }
    return () => leave?.();
  }

  /** The model answered. */
  succeeded({ model }: Call): void {
    const circuit = this.#circuits.get(model);
    if (circuit === undefined) return;
    const wasOpen = circuit.isOpen;
    if (!circuit.succeeded()) return;
    this.#noteChange(model, wasOpen, circuit);
    this.#exchanges.ask();
  }

  /** A call ended with an error. One that is the request's or the caller's doing says nothing about the provider. */
  failed({ model, timeoutMs, signal, charge }: Call, error: unknown): void {
    if (signal.aborted || !(error instanceof ProviderError) || !error.outage) return;
    if (error.fault === 'timeout' && timeoutMs < this.#options.fairTimeoutMs) return;
    const circuit = this.#circuitOf(model);
    const wasOpen = circuit.isOpen;
    circuit.failed(partyOf(charge), error.fault, error.retryAfterMs);
    this.#noteChange(model, wasOpen, circuit);
    this.#exchanges.ask();
  }

  /** Returns when this call is the probe, or the circuit has closed. Throws when another call is the probe. */
  async #probe(model: string, party: string, circuit: Circuit): Promise<void> {
    // From here on this process's other calls are refused.
    circuit.probing();
    const isOurs = await this.#options.shared.claimProbe(model).catch(() => true);
    if (isOurs) return;
    await this.#exchange();
    // Still open, even if the next probe is due by now.
    if (circuit.check(party)) throw circuit.refusal();
  }

  #circuitOf(model: string): Circuit {
    const known = this.#circuits.get(model);
    if (known !== undefined) return known;
    const circuit = new Circuit(model, this.#options.terms);
    this.#circuits.set(model, circuit);
    return circuit;
  }

  /** Never rejects. One at a time: what one has read must not replace what a later one has. */
  #exchange(): Promise<void> {
    this.#exchanged = this.#exchanged.then(() => this.#exchangeNow());
    return this.#exchanged;
  }

  async #exchangeNow(): Promise<void> {
    const { shared, log } = this.#options;
    try {
      for (const circuit of this.#circuits.values()) await this.#report(circuit);
      const states = await shared.read();
      for (const { model } of states) this.#circuitOf(model);
      for (const [model, circuit] of this.#circuits) {
        const wasOpen = circuit.isOpen;
        circuit.adopt(states.find((state) => state.model === model));
        this.#noteChange(model, wasOpen, circuit);
      }
      if (this.#limit !== undefined) this.#limit.divide(await shared.countWorkers());
      this.#alone = false;
    } catch (error) {
      if (!this.#alone)
        log.warn({ err: error }, 'decides alone about the provider: other workers are out of reach');
      this.#alone = true;
    }
  }

  async #report(circuit: Circuit): Promise<void> {
    const { shared, terms, log } = this.#options;
    const news = circuit.takeNews();
    if (news === undefined) return;
    const failures = await shared.report(news).catch((error: unknown) => {
      circuit.returnNews(news);
      throw error;
    });
    const opened = failures >= terms.failuresToOpen && failures - news.failures < terms.failuresToOpen;
    if (opened || news.urgent)
      await shared
        .announce()
        .catch((error: unknown) => log.warn({ err: error }, 'could not announce the state of the provider'));
  }

  #noteChange(model: string, wasOpen: boolean, { isOpen }: Circuit): void {
    if (isOpen === wasOpen) return;
    if (isOpen) this.#options.log.warn({ model }, 'circuit open: the provider failed too often in a row');
    else this.#options.log.info({ model }, 'circuit closed: the provider answers again');
  }
}

/** Tells parties apart; a hash, because an account's id has no business to outlive the account. */
function partyOf({ appId, accountId }: Charge): string {
  return createHash('sha256')
    .update(appId ?? accountId ?? '')
    .digest('base64url')
    .slice(0, 16);
}

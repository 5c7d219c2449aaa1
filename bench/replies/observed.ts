import { setTimeout as sleep } from 'node:timers/promises';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import {
  type CallLimits,
  type Guess,
  type Provider,
  ProviderError,
  type StructuredAnswer,
  type StructuredQuestion,
} from '../../workers/providers/provider.ts';

/** Limits for repeating a call that the provider refuses for its rate limit. */
const ATTEMPTS_MAX = 6;
const BASE_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** Limits concurrent calls to a model, and counts them by outcome. Of its failures, only a refused key ends the run. */
export class ObservedProvider implements Provider {
  readonly #model: Provider & { ask: object };
  readonly #counts = new Map<string, number>();
  readonly #times: number[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(model: Provider, concurrency: number) {
    const { ask } = model;
    if (ask === null) throw new TypeError('not a language model');
    this.#model = { predict: (task, call) => model.predict(task, call), ask };
    this.#free = concurrency;
  }

  predict(task: PredictionTask, call: CallLimits): Promise<Guess> {
    return this.#observe(
      () => this.#model.predict(task, call),
      ({ completion }) => (completion === '' ? 'no guess' : 'answered'),
    );
  }

  readonly ask = <Answer>(
    question: StructuredQuestion<Answer>,
    call: CallLimits,
  ): Promise<StructuredAnswer<Answer>> =>
    this.#observe(
      () => this.#model.ask(question, call),
      ({ state }) => state,
    );

  get summary(): string {
    const times = this.#times.toSorted((a, b) => a - b);
    const seconds = (share: number) => ((times[Math.floor(share * times.length)] ?? 0) / 1000).toFixed(2);
    const counts = [...this.#counts].map(([ending, count]) => `${count} ${ending}`);
    return `${counts.join(', ') || 'no calls yet'}; p50 ${seconds(0.5)} s, p95 ${seconds(0.95)} s`;
  }

  async #observe<Result>(call: () => Promise<Result>, endingOf: (result: Result) => string): Promise<Result> {
    await this.#waitForSlot();
    const since = performance.now();
    try {
      const result = await this.#retryWhenLimited(call);
      this.#count(endingOf(result));
      return result;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.fault === 'not_configured') throw new Error(`the provider refuses the key: ${error.message}`);
      this.#count(`failed (${error.message})`);
      throw error;
    } finally {
      this.#times.push(performance.now() - since);
      this.#free += 1;
      this.#waiting.shift()?.();
    }
  }

  async #waitForSlot(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
  }

  async #retryWhenLimited<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const limited = error instanceof ProviderError && error.fault === 'rate_limited';
        if (!limited || attempt === ATTEMPTS_MAX) throw error;
        this.#count('rate limited and asked again');
        await sleep(Math.min(error.retryAfterMs ?? BASE_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS));
      }
    }
  }

  #count(ending: string): void {
    this.#counts.set(ending, (this.#counts.get(ending) ?? 0) + 1);
  }
}

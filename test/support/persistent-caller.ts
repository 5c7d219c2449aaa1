import { setTimeout as sleep } from 'node:timers/promises';
import { AppClient, predictionBody, type Reply } from './client.ts';
import { endOf } from './flood.ts';

const LONGEST_PAUSE_MS = 1000;
const GIVES_UP_AFTER_MS = 120_000;
/** Answers after which a caller retries, as their `Retry-After` or the idempotency table says. */
const TRANSIENT_ENDS = [
  '503 service_unavailable',
  '503 overloaded',
  '409 request_in_flight',
  '504 prediction_timeout',
];

type Body = ReturnType<typeof predictionBody>;

export interface RequestOutcome {
  body: Body;
  /** Final answer; absent if there was none within two minutes. */
  last: Pick<Reply<unknown>, 'status' | 'text'> | undefined;
  /** All answers up to the final one, such as `503 overloaded` and `200`, and the codes of broken connections. */
  ends: string[];
  /** Answer to the same request at another ingress, if it was sent there. */
  twin: Pick<Reply<unknown>, 'status' | 'text'> | undefined;
  cancelled: boolean;
  tookMs: number;
}

export type Habit = 'plain' | 'again' | 'at once' | 'cancel';

/**
 * Sends a request to the ingresses in turn, and retries until there is a final answer. The habit `again` repeats the
 * request after the answer, `at once` concurrently; `cancel` cancels it while it may still run.
 */
export class PersistentCaller {
  ingresses: { url: string }[] = [];
  readonly #app: AppClient;
  #turn = 0;

  constructor(id: string, key: string) {
    this.#app = new AppClient(id, key, '');
  }

  async ask(habit: Habit, cancelAfterMs: number): Promise<RequestOutcome> {
    const body = predictionBody();
    const since = performance.now();
    const ends: string[] = [];
    const other = habit === 'at once' ? this.#finalAnswer(body, []) : undefined;
    const cancel = habit === 'cancel' ? this.#cancel(body, cancelAfterMs) : undefined;
    const last = await this.#finalAnswer(body, ends);
    const tookMs = performance.now() - since;
    await cancel;
    const twin = habit === 'again' ? await this.#finalAnswer(body, []) : await other;
    return { body, last, ends, twin, cancelled: habit === 'cancel', tookMs };
  }

  repeat(body: Body): Promise<Reply<unknown> | undefined> {
    return this.#finalAnswer(body, []);
  }

  async #finalAnswer(body: Body, ends: string[]): Promise<Reply<unknown> | undefined> {
    const deadline = performance.now() + GIVES_UP_AFTER_MS;
    while (performance.now() < deadline) {
      const at = this.#next();
      let pauseMs = 50;
      try {
        const reply = await this.#app.predict(body, { at });
        const end = endOf(reply);
        ends.push(end);
        if (!TRANSIENT_ENDS.includes(end)) return reply;
        pauseMs = Math.min(LONGEST_PAUSE_MS, 1000 * Number(reply.headers.get('retry-after') ?? 0.05));
      } catch (error) {
        const { cause } = error as { cause?: { code?: string } };
        ends.push(cause?.code ?? String(error));
      }
      await sleep(pauseMs);
    }
    return undefined;
  }

  async #cancel({ request_id, user_id }: Body, afterMs: number): Promise<void> {
    await sleep(afterMs);
    // The request's outcome shows whether the cancel came too early, too late or for no work.
    await this.#app.cancel(request_id, user_id, { at: this.#next() }).catch(() => {});
  }

  #next(): { url: string } {
    this.#turn += 1;
    return this.ingresses[this.#turn % this.ingresses.length] ?? { url: '' };
  }
}

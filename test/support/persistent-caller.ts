import { setTimeout as sleep } from 'node:timers/promises';
import { AppClient, predictionBody, type Reply } from './client.ts';

const LONGEST_PAUSE_MS = 1000;
const GIVES_UP_AFTER_MS = 120_000;
/** A caller comes again after these, as their `Retry-After` or the table of idempotency says. */
const TRANSIENT = [
  '503 service_unavailable',
  '503 overloaded',
  '409 request_in_flight',
  '504 prediction_timeout',
];

type Body = ReturnType<typeof predictionBody>;

/** What one request came to, however many times it was asked. */
export interface Settled {
  body: Body;
  /** The answer after which nobody asks again; absent when there was none in two minutes. */
  last: Pick<Reply<unknown>, 'status' | 'text'> | undefined;
  /** Every answer on the way, `200` or `503 overloaded`, and the codes of connections that broke. */
  ways: string[];
  /** The answer to the same request at another ingress, when it was asked for. */
  twin: Pick<Reply<unknown>, 'status' | 'text'> | undefined;
  /** Whether somebody asked to cancel it. */
  cancelled: boolean;
  tookMs: number;
}

/** What is done to a request beside asking for it. */
export type Habit = 'plain' | 'again' | 'at once' | 'cancel';

/**
 * Asks the ingresses in turn, and comes again with the same request until there is an answer that stays. `again` asks
 * at the next ingress after the answer, `at once` beside it, `cancel` cancels at the next ingress what may still run.
 */
export class PersistentCaller {
  /** Whom to ask; may change at any time. */
  ingresses: { url: string }[] = [];
  readonly #app: AppClient;
  #turn = 0;

  constructor(id: string, key: string) {
    this.#app = new AppClient(id, key, '');
  }

  async ask(habit: Habit, cancelAfterMs: number): Promise<Settled> {
    const body = predictionBody();
    const since = performance.now();
    const ways: string[] = [];
    const other = habit === 'at once' ? this.#untilItStays(body, []) : undefined;
    const cancel = habit === 'cancel' ? this.#cancel(body, cancelAfterMs) : undefined;
    const last = await this.#untilItStays(body, ways);
    const tookMs = performance.now() - since;
    await cancel;
    const twin = habit === 'again' ? await this.#untilItStays(body, []) : await other;
    return { body, last, ways, twin, cancelled: habit === 'cancel', tookMs };
  }

  /** The stored answer of a request that has ended. */
  repeat(body: Body): Promise<Reply<unknown> | undefined> {
    return this.#untilItStays(body, []);
  }

  async #untilItStays(body: Body, ways: string[]): Promise<Reply<unknown> | undefined> {
    const deadline = performance.now() + GIVES_UP_AFTER_MS;
    while (performance.now() < deadline) {
      const at = this.#next();
      let pauseMs = 50;
      try {
        const reply = await this.#app.predict(body, { at });
        const end = reply.code === undefined ? `${reply.status}` : `${reply.status} ${reply.code}`;
        ways.push(end);
        if (!TRANSIENT.includes(end)) return reply;
        pauseMs = Math.min(LONGEST_PAUSE_MS, 1000 * Number(reply.headers.get('retry-after') ?? 0.05));
      } catch (error) {
        const { cause } = error as { cause?: { code?: string } };
        ways.push(cause?.code ?? String(error));
      }
      await sleep(pauseMs);
    }
    return undefined;
  }

  async #cancel({ request_id, user_id }: Body, afterMs: number): Promise<void> {
    await sleep(afterMs);
    // Whether it came too early, too late or to nobody is seen by what the request comes to.
    await this.#app.cancel(request_id, user_id, { at: this.#next() }).catch(() => {});
  }

  #next(): { url: string } {
    this.#turn += 1;
    return this.ingresses[this.#turn % this.ingresses.length] ?? { url: '' };
  }
}

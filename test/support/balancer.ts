import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, KeepAliveClient } from './keep-alive-client.ts';

/** The outcome of one request: `answer` is absent when its connection broke, or when no ingress was left. */
export interface Delivered {
  requestId: string;
  answer?: Answer;
  /** Why its connection broke. It is not retried, so that its row shows whether it had been accepted. */
  broken?: string;
}

const TRIES = 20;
const LOOK_AGAIN_MS = 50;

/**
 * Spreads requests over the known ingresses, like a balancer without health checks: one that refuses a connection or
 * sends `Connection: close` is shutting down, and gets no more requests.
 */
export class Balancer {
  readonly #client: KeepAliveClient;
  #upstreams: string[] = [];
  #turn = 0;

  constructor(key: string) {
    this.#client = new KeepAliveClient(key);
  }

  add(url: string): void {
    this.#upstreams.push(url);
  }

  async predict(body: { request_id: string }): Promise<Delivered> {
    const requestId = body.request_id;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const url = this.#next();
      if (url === undefined) {
        await sleep(LOOK_AGAIN_MS);
        continue;
      }
      try {
        const answer = await this.#client.predict(url, body);
        if (answer.closes) this.#remove(url);
        return { requestId, answer };
      } catch (error) {
        this.#remove(url);
        const { code } = error as { code?: string };
        if (code !== 'ECONNREFUSED') return { requestId, broken: code ?? String(error) };
      }
    }
    return { requestId };
  }

  close(): void {
    this.#client.close();
  }

  #next(): string | undefined {
    this.#turn += 1;
    return this.#upstreams[this.#turn % this.#upstreams.length];
  }

  #remove(url: string): void {
    this.#upstreams = this.#upstreams.filter((one) => one !== url);
  }
}

import { withTimeout } from '../timing/within.ts';
import type { Health } from './operator-port.ts';

/** A part of the process counts as stuck after this silence. */
const STUCK_AFTER_MS = 10_000;

/**
 * Time for which the result of the checks is reused, so that frequent requests do not burden the database and the
 * queue.
 */
const RESULT_TTL_MS = 1000;

/**
 * Time without an answer after which a check fails. A metrics scrape waits longer, so that it can report the failure.
 */
const CHECK_TIMEOUT_MS = 1500;

export class ProcessHealth implements Health {
  serving = false;
  readonly #watchedParts: { readonly silentMs: number }[] = [];
  readonly #checks: (() => Promise<unknown>)[] = [];
  #result: Promise<boolean> | undefined;

  /** Makes the process unhealthy while one of these parts has been silent for 10 s. */
  watch(...parts: readonly { readonly silentMs: number }[]): void {
    this.#watchedParts.push(...parts);
  }

  /** Makes the process ready only while this check resolves. */
  require(check: () => Promise<unknown>): void {
    this.#checks.push(check);
    this.#result = undefined;
  }

  isHealthy(): boolean {
    return this.#watchedParts.every(({ silentMs }) => silentMs < STUCK_AFTER_MS);
  }

  async isReady(): Promise<boolean> {
    this.#result ??= this.#runChecks();
    const result = this.#result;
    return (await withTimeout(CHECK_TIMEOUT_MS, () => result).catch(() => false)) && this.serving;
  }

  async #runChecks(): Promise<boolean> {
    try {
      await Promise.all(this.#checks.map((check) => check()));
      return true;
    } catch {
      return false;
    } finally {
      setTimeout(() => {
        this.#result = undefined;
      }, RESULT_TTL_MS).unref();
    }
  }
}

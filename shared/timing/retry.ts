import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  firstMs: number;
  longestMs: number;
}

export interface RetryOptions extends Backoff {
  /** Returns true if a retry can help after `tries` failed tries; by default, always. */
  when?: (error: unknown, tries: number) => boolean;
  /** Time, by `performance.now()`, after which no try starts. */
  until?: number;
  /** Aborts the wait for the next try. */
  signal?: AbortSignal;
}

/**
 * Retries with backoff until `work` succeeds. Rejects with the last error of `work` when another try cannot help or
 * would start after `until`. Starts no try once the signal has aborted, but rejects with its reason or, from a pause,
 * with an `AbortError`. Only for work that is safe to repeat.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { when = () => true, until = Number.POSITIVE_INFINITY, signal } = options;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const delayMs = backoffMs(tries, options);
      if (!when(error, tries) || performance.now() + delayMs > until) throw error;
      await sleep(delayMs, undefined, { ...(signal && { signal }) });
    }
  }
}

/**
 * Returns the time to wait after `tries` failed tries. It doubles each time, with jitter, so that processes do not
 * retry all at once.
 */
export function backoffMs(tries: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (tries - 1), longestMs) * (0.5 + Math.random() / 2);
}

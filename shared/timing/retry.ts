import timers from 'node:timers/promises';

export interface Backoff {
  firstMs: number;
  longestMs: number;
}

export interface RetryOptions extends Backoff {
  /** Returns true if a retry can help; by default, always. */
  when?: (error: unknown, tries: number) => boolean;
  /** Time, by `performance.now()`, after which no retry starts. */
  until?: number;
  signal?: AbortSignal;
}

/**
 * Retries with backoff, so `work` must be safe to repeat. Rejects with the last error if a retry cannot help or would
 * start after `until`. Once the signal has aborted, starts no try, but rejects with the signal's reason or, from a
 * pause, with an `AbortError`.
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
      await timers.setTimeout(delayMs, undefined, { ...(signal && { signal }) });
    }
  }
}

/** Doubles with each try, up to `longestMs`. The jitter keeps processes from retrying at the same moment. */
export function backoffMs(tries: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (tries - 1), longestMs) * (0.5 + Math.random() / 2);
}

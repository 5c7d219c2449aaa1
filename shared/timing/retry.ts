import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  firstMs: number;
  longestMs: number;
}

export interface RetryOptions extends Backoff {
  /** Returns true if a retry can help; by default, always. */
  when?: (error: unknown, tries: number) => boolean;
  /** Time, by `performance.now()`, after which no try starts. */
  until?: number;
  signal?: AbortSignal;
}

/**
 * Retries with backoff; `work` must be safe to repeat. Rejects with its last error when a try cannot help or would
 * start after `until`, and with the signal's reason or an `AbortError` once the signal has aborted.
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

/** Doubles with each try, with jitter, so that processes do not retry all at once. */
export function backoffMs(tries: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (tries - 1), longestMs) * (0.5 + Math.random() / 2);
}

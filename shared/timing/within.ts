/** Settles as `work` does, or rejects with the signal's reason as soon as the signal aborts. */
export async function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  work.then(resolve, reject);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Replaces `AbortSignal.any`, whose weak references take 10 µs. Never removes its listeners from `signals`, which must
 * therefore not live longer than the returned signal.
 */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const any = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) any.abort(signal.reason);
    signal.addEventListener('abort', () => any.abort(signal.reason));
  }
  return any.signal;
}

/**
 * After `ms`, rejects with `timeoutError()` and aborts the signal that `work` got, with the same error as the reason.
 */
export async function withTimeout<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  timeoutError: () => Error = () => new Error(`not done within ${ms} ms`),
): Promise<T> {
  const limit = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    limit.abort(timeoutError());
    reject(limit.signal.reason);
  }, ms);
  try {
    work(limit.signal).then(resolve, reject);
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Settles like `work`. If the signal aborts first, rejects, calls `clean`, and lets `work` run on. The signal must not
 * be aborted yet.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal, clean: () => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      clean();
    };
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

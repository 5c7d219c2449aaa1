/** Settles as `work` does, or rejects when the signal aborts, and then calls `clean`; `work` still runs. */
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

/** Rejects with the signal's reason once that is aborted; `clean` then looks after what runs on. */
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

import { rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Removes a file when the returned object is disposed, or when one of `SIGNALS` ends the process before that. */
export function removeAtEnd(file: string): Disposable {
  const remove = () => rmSync(file, { force: true });
  const end = (signal: NodeJS.Signals) => {
    remove();
    // Now the signal ends the process, since `once` has removed this handler.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  return {
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, end);
      remove();
    },
  };
}

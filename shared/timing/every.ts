export interface EveryOptions {
  /** Without a handler, a failure ends the process. */
  onError?: (error: unknown) => void;
  atOnce?: boolean;
  /** True if the timer keeps the process alive; true by default. */
  ref?: boolean;
}

export interface Repetition {
  /** Starts a run at once, or after the current one. */
  soon(): void;
  /** Resolves when the current run, if any, has ended. */
  stop(): Promise<void>;
}

const MIN_PAUSE_MS = 10;

/**
 * Starts `work` every `ms`, or `MIN_PAUSE_MS` after a longer run. If `ms` is a function, it is called after each run.
 * Continues after failures that `onError` handles.
 */
export function every(
  ms: number | (() => number),
  work: () => unknown,
  { onError, atOnce = false, ref = true }: EveryOptions = {},
): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isStopped = false;
  let isSoon = false;
  const intervalMs = typeof ms === 'number' ? () => ms : ms;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    try {
      await work();
    } catch (error) {
      if (onError === undefined) throw error;
      onError(error);
    } finally {
      schedule(isSoon ? 0 : Math.max(MIN_PAUSE_MS, intervalMs() - (performance.now() - startedAt)));
      isSoon = false;
    }
  }

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(start, delayMs);
    if (!ref) timer.unref();
  }

  function start(): void {
    timer = undefined;
    running = run();
  }

  if (atOnce) start();
  else schedule(intervalMs());
  return {
    soon() {
      if (isStopped) return;
      if (timer === undefined) {
        isSoon = true;
        return;
      }
      clearTimeout(timer);
      start();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

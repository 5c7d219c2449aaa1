export interface EveryOptions {
  /** Without a handler, a failure ends the process. */
  onError?: (error: unknown) => void;
  atOnce?: boolean;
  /** True if the timer keeps the process alive; true by default. */
  ref?: boolean;
}

export interface Repetition {
  /** Resolves when the current run, if any, has ended. */
  stop(): Promise<void>;
}

const MIN_PAUSE_MS = 10;

/** Starts `work` every `ms`, or `MIN_PAUSE_MS` after a longer run. Continues after failures that `onError` handles. */
export function every(
  ms: number,
  work: () => unknown,
  { onError, atOnce = false, ref = true }: EveryOptions = {},
): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isStopped = false;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    try {
      await work();
    } catch (error) {
      if (onError === undefined) throw error;
      onError(error);
    } finally {
      schedule(Math.max(MIN_PAUSE_MS, ms - (performance.now() - startedAt)));
    }
  }

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = run();
    }, delayMs);
    if (!ref) timer.unref();
  }

  if (atOnce) running = run();
  else schedule(ms);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

export interface EveryOptions {
  /** Handles a failed run. Without it, a failure is a defect that ends the process. */
  onError?: (error: unknown) => void;
  /** True if the first run starts now instead of after the first interval. */
  atOnce?: boolean;
  /** True if the timer keeps the process alive; true by default. */
  ref?: boolean;
}

export interface Repetition {
  /** Starts no further runs. Resolves when the present run, if any, has ended. */
  stop(): Promise<void>;
}

/** Minimum pause between two runs, however long a run takes. */
const GAP_MS = 10;

/** Runs `work` every `ms`, counted from start to start, one run at a time. A failed run does not end the repetition. */
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
      schedule(Math.max(GAP_MS, ms - (performance.now() - startedAt)));
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

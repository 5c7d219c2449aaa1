import { setTimeout as sleep } from 'node:timers/promises';

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Polls until the condition returns something truthy, and resolves with that. Rejects after `withinMs`. */
export async function until<T>(condition: () => T | Promise<T>, withinMs = 40_000): Promise<Truthy<T>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await condition();
    if (found) return found as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await sleep(20);
  }
}

/** Retries until `work` does not throw. Rejects after `withinMs`, with the last error as the cause. */
export async function untilDone<T>(work: () => Promise<T>, withinMs = 40_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${cause}`, { cause });
    }
    await sleep(20);
  }
}

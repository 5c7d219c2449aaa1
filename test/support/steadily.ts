import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `perSecond` times a second for `forMs`, whatever the outcome of the calls. */
export async function callSteadily(perSecond: number, forMs: number, call: () => void): Promise<void> {
  const since = performance.now();
  for (let done = 0, passed = 0; passed < forMs; passed = performance.now() - since) {
    for (; done < (passed * perSecond) / 1000; done += 1) call();
    await sleep(5);
  }
}

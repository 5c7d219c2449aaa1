import { setTimeout as sleep } from 'node:timers/promises';

/** Makes `perSecond` calls a second for `forMs`, without waiting for the calls to end. */
export async function callSteadily(perSecond: number, forMs: number, call: () => void): Promise<void> {
  const since = performance.now();
  for (let done = 0, passed = 0; passed < forMs; passed = performance.now() - since) {
    for (; done < (passed * perSecond) / 1000; done += 1) call();
    await sleep(5);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Starts `call` at a fixed rate until `done` settles, even while earlier calls run; resolves with all results. */
export async function callUntil<Result>(
  perSecond: number,
  call: () => Promise<Result>,
  done: Promise<unknown>,
): Promise<Result[]> {
  const calls: Promise<Result>[] = [];
  let over = false;
  const ended = done.finally(() => {
    over = true;
  });
  const since = performance.now();
  while (!over) {
    while (calls.length <= ((performance.now() - since) * perSecond) / 1000) calls.push(call());
    await Promise.race([ended, sleep(1000 / perSecond)]);
  }
  return Promise.all(calls);
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Most rows that a step ends or deletes: it holds its locks for milliseconds. */
export const ROWS_AT_ONCE = 1000;

/**
 * Pause to make after a step, as a multiple of its duration: disk and cores are for callers who wait for an answer.
 */
const REST = 2;

/** Repeats a step, a transaction of its own each time, until it finds less than `most` rows; yields after each. */
export async function* repeated(step: () => Promise<number>, most = ROWS_AT_ONCE): AsyncGenerator<void> {
  for (let rows = most; rows >= most; ) {
    rows = await step();
    yield;
  }
}

/** Takes steps for about so long. False when some are left. */
export async function takeSteps(steps: AsyncIterable<unknown>, withinMs: number): Promise<boolean> {
  const since = performance.now();
  let rested = since;
  for await (const _ of steps) {
    const now = performance.now();
    if (now - since > withinMs) return false;
    await sleep(REST * (now - rested));
    rested = performance.now();
  }
  return true;
}

/** The values in pages of a size, in order; none for no values. */
export function* inPages<Value>(values: readonly Value[], size: number): Generator<Value[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum number of rows that one transaction ends or deletes, so that its locks are held only for milliseconds. */
export const ROWS_AT_ONCE = 1000;

/** Pause after a step, as a multiple of its duration. It leaves disk and cores to callers who wait for an answer. */
const PAUSE_FACTOR = 2;

/** Repeats a step until it finds fewer than `pageSize` rows. Yields after each step. */
export async function* repeatStep(
  step: () => Promise<number>,
  pageSize = ROWS_AT_ONCE,
): AsyncGenerator<void> {
  for (let rows = pageSize; rows >= pageSize; ) {
    rows = await step();
    yield;
  }
}

/**
 * Takes steps for about `withinMs` or until `stopping` aborts, with a pause after each. Returns false if some may be
 * left.
 */
export async function takeSteps(
  steps: AsyncIterable<unknown>,
  withinMs: number,
  stopping?: AbortSignal,
): Promise<boolean> {
  if (stopping?.aborted) return false;
  const since = performance.now();
  let stepStart = since;
  for await (const _ of steps) {
    const now = performance.now();
    if (now - since > withinMs) return false;
    await sleep(PAUSE_FACTOR * (now - stepStart), undefined, { ...(stopping && { signal: stopping }) }).catch(
      () => {},
    );
    if (stopping?.aborted) return false;
    stepStart = performance.now();
  }
  return true;
}

export function* inPages<Value>(values: readonly Value[], size: number): Generator<Value[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}

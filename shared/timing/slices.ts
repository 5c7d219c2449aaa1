import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 5;

/** Divides a long task into slices, between which other requests take a turn. */
export class Slices {
  #start = performance.now();

  /** Call between two steps. Ends the slice if it has lasted `SLICE_MS`. */
  async pause(): Promise<void> {
    if (performance.now() - this.#start <= SLICE_MS) return;
    await nextTurn();
    this.#start = performance.now();
  }
}

/** Like `values.map`, in slices. */
export async function mapInSlices<Value, Result>(
  values: readonly Value[],
  change: (value: Value) => Result,
): Promise<Result[]> {
  const slices = new Slices();
  const results: Result[] = [];
  for (const value of values) {
    await slices.pause();
    results.push(change(value));
  }
  return results;
}

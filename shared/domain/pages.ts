/** The values in pages of a size, in order; none for no values. */
export function* inPages<Value>(values: readonly Value[], size: number): Generator<Value[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}

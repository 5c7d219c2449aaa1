interface Item {
  bytes: number;
}

interface Rules<One> {
  most: number;
  maxBytes: number;
  /** Whether it may be in this batch at all. */
  suits: (one: One) => boolean;
  /** Items with a key in common, or with one that is `taken`, never share a batch. */
  keysOf: (one: One) => readonly string[];
  taken: Iterable<string>;
}

/** The first batch of what waits, in order, and the others. A batch holds at most `maxBytes`, or a single larger item. */
export function takeBatch<One extends Item>(
  waiting: readonly One[],
  { most, maxBytes, suits, keysOf, taken }: Rules<One>,
): { batch: One[]; others: One[] } {
  const batch: One[] = [];
  const passed: One[] = [];
  // A passed item keeps its keys, too: nothing that shares one may overtake it.
  const keys = new Set(taken);
  let bytes = 0;
  let looked = 0;
  for (const one of waiting) {
    if (batch.length === most) break;
    const own = keysOf(one);
    const isFree = suits(one) && !own.some((key) => keys.has(key));
    if (isFree && batch.length > 0 && bytes + one.bytes > maxBytes) break;
    (isFree ? batch : passed).push(one);
    if (isFree) bytes += one.bytes;
    for (const key of own) keys.add(key);
    looked += 1;
  }
  return { batch, others: [...passed, ...waiting.slice(looked)] };
}

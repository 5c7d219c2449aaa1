import type { Json } from './document.ts';

const POOL = 'fuzz:pool';
const NTH = 'fuzz:nth';

/**
 * Makes a reference, which the pool's n-th value replaces when a request is sent. So plans are plain JSON, which can be
 * replayed.
 */
export function refer(pool: string, nth: number): Json {
  return { [POOL]: pool, [NTH]: nth };
}

/** Looks up the values that references stand for. */
export interface Pools {
  lookUp(pool: string, nth: number): Json;
}

/** Replaces the references in a value. */
export function resolveReferences(value: Json, pools: Pools): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, pools));
  if (POOL in value) return pools.lookUp(String(value[POOL]), Number(value[NTH]));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, resolveReferences(one, pools)]),
  );
}

import fc from 'fast-check';
import type { Json } from './document.ts';

const POOL = 'fuzz:pool';
const NTH = 'fuzz:nth';

/** Makes a reference to the pool's n-th value, so that a plan is plain JSON, which can be replayed. */
function refer(pool: string, nth: number): Json {
  return { [POOL]: pool, [NTH]: nth };
}

export function fromPool(pool: string): fc.Arbitrary<Json> {
  return fc.nat(255).map((nth) => refer(pool, nth));
}

export interface Pools {
  lookUp(pool: string, nth: number): Json;
}

export function resolveReferences(value: Json, pools: Pools): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, pools));
  if (POOL in value) return pools.lookUp(String(value[POOL]), Number(value[NTH]));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, resolveReferences(one, pools)]),
  );
}

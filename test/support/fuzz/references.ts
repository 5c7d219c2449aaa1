import type { Json } from './document.ts';

const POOL = 'fuzz:pool';
const NTH = 'fuzz:nth';

/** Stands for the pool's nth value until a request is sent, so that plans are plain JSON that can be replayed. */
export function refer(pool: string, nth: number): Json {
  return { [POOL]: pool, [NTH]: nth };
}

/** Where references lead. */
export interface Pools {
  lookUp(pool: string, nth: number): Json;
}

/** The value with what its references stand for. */
export function resolved(value: Json, pools: Pools): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => resolved(one, pools));
  if (POOL in value) return pools.lookUp(String(value[POOL]), Number(value[NTH]));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, pools)]));
}

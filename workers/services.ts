import { POOLS, type PoolName } from '../shared/config/pools.ts';
import { type Kinds, kindsOf } from '../shared/work/kind.ts';

/** What a worker process can be started as: one pool, the scheduler of recurring work, or all of it. */
export const SERVICES = [...POOLS, 'scheduler', 'all'] as const;

/** The pools that a service serves, without those that have no kind of work; undefined for an unknown service. */
export function poolsOf(kinds: Kinds, service: string): PoolName[] | undefined {
  if (!SERVICES.some((known) => known === service)) return undefined;
  return POOLS.filter((pool) => (service === pool || service === 'all') && kindsOf(kinds, pool).length > 0);
}

/** Whether a service schedules the recurring work. */
export function isScheduler(service: string): boolean {
  return service === 'scheduler' || service === 'all';
}

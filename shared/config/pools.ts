/** Pools of workers. Each has slots of its own in a process, so that no pool's work delays another's. */
export const POOLS = ['predict', 'batch', 'memory'] as const;
export type PoolName = (typeof POOLS)[number];

/** Worker pools. Each has its own slots in a process, so that work in one pool never delays another's. */
export const POOLS = ['predict', 'batch', 'memory'] as const;
export type PoolName = (typeof POOLS)[number];

/**
 * Time limits of the parts of a stop, in milliseconds. Each is shorter than the one that encloses it. A worker drains
 * first, so that another worker can finish its work while the ingress can still answer the callers.
 */
export const STOP_LIMITS = {
  /** Closing the queues, and then their connections: BullMQ waits for a store that may be down. */
  queue: 1000,
  /** Finishing a worker's attempts in progress; the rest is released to other processes. */
  workerDrain: 15_000,
  /** Finishing calls in progress at an ingress; callers still waiting at the end get 503. */
  ingressDrain: 20_000,
  /** Cutting an ingress's open connections, counted from the start of the stop. */
  ingressConnections: 22_000,
  traces: 2000,
  /** Stopping a whole process, as docs/operating.md promises. */
  process: 25_000,
  /** Stopping a process under `npm start`, which then kills it. */
  supervisor: 30_000,
  /** Stopping the PostgreSQL of `npm start`, which stops last and may have much to write. */
  postgres: 60_000,
} as const;

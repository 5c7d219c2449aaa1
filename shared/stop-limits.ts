/**
 * Time limits of the parts of a stop, in milliseconds. Each is shorter than the one that encloses it. Workers have less
 * time than ingresses: other workers can then finish the released work while the ingresses still answer callers.
 */
export const STOP_LIMITS = {
  /**
   * Closing the queues, and again closing their connections. Without a limit, BullMQ waits for a store that is down.
   */
  queue: 1000,
  /** Finishing a worker's attempts in progress; the rest is released to other processes. */
  workerDrain: 15_000,
  /** Finishing calls in progress at an ingress; callers still waiting at the end get 503. */
  ingressDrain: 20_000,
  /** Closing the connections that are still open at an ingress, counted from the start of the stop. */
  ingressConnections: 22_000,
  /** Sending the last spans to the collector. */
  traces: 2000,
  /** Stopping a whole process, as docs/operating.md promises. */
  process: 25_000,
  /** Stopping a process under `npm start`, which then kills a process that has not exited. */
  supervisor: 30_000,
  /** Stopping the PostgreSQL of `npm start`, which stops last and may have much to write. */
  postgres: 60_000,
} as const;

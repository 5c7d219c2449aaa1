/**
 * Time that each part of a stop may take, in milliseconds. Every limit ends before the one that encloses it, so that a
 * process always gets to close in order before somebody kills it:
 *
 * a worker drains first, because an ingress can still answer the callers whose work another worker then finishes;
 * an ingress drains longer, then answers 503, and has a moment to send that before it cuts connections;
 * the process exits however its last parts hang; the supervisor kills a process that does not.
 */
export const STOP_LIMITS = {
  /** The queues, or a worker of one, and then their connections: BullMQ waits for a store that may be down. */
  queue: 1000,
  /** A worker's attempts in progress; the rest is released to other processes. */
  workerDrain: 15_000,
  /** Calls in progress at an ingress; those still waiting then get 503. */
  ingressDrain: 20_000,
  /** An ingress's open connections. */
  ingressConnections: 22_000,
  /** Sending the last spans to the collector of traces. */
  traces: 2000,
  /** A whole process, as the README promises operators. */
  process: 25_000,
  /** A process, as `npm start` sees it. */
  supervisor: 30_000,
  /** The PostgreSQL of `npm start`, which stops last and may have much to write. */
  postgres: 60_000,
} as const;

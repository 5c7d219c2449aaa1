import type { JobName, JobPayloads } from './contracts.ts';

/** A job to be put on a queue. Those of a lower turn go first, whenever they came. */
export interface Job<Name extends JobName> {
  payload: JobPayloads[Name];
  turn: number;
}

/** Puts jobs on one queue. */
export interface JobQueue<Name extends JobName> {
  add(jobs: Job<Name>[]): Promise<void>;
}

/** Takes jobs from one queue; `close` takes no more and resolves when those in hand are done. */
export interface JobWorker {
  close(): Promise<void>;
}

/** BullMQ on the store that this installation has. The queue only moves ids: it may lose or double any of them. */
export interface Queues {
  queue<Name extends JobName>(name: Name): JobQueue<Name>;
  /**
   * Takes jobs while fewer than `slots` ids are in hand; the last one may bring a few more. `perform` is to call `done`
   * once for each id, as soon as that is out of its hands.
   */
  worker<Name extends JobName>(
    name: Name,
    perform: (payload: JobPayloads[Name], done: () => void) => Promise<void>,
    options: { slots: number },
  ): JobWorker;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

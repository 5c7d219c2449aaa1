/**
 * One pool's queue. A job is a ticket: "there is work". The rows say what the work is, and workers look at them once a
 * second, so any ticket may be lost, late or doubled.
 */
export interface TicketQueue {
  /**
   * Adds a ticket; those asked for within 200 ms share one. Neither waits nor fails. Call it after the commit of the rows
   * that have these ids, which only people who look at the queue read.
   */
  add(ids: readonly string[]): void;
}

/** Tickets that the store itself adds to a queue, one at each tick of a cron pattern, however many processes plant it. */
export interface RecurringTickets {
  /** Plants it, or replaces its pattern. Plants it again where the store has lost it. */
  plant(id: string, pattern: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Takes tickets from one queue. */
export interface TicketWorker {
  /** Takes no more tickets. Resolves within 2 s. */
  close(): Promise<void>;
}

/** BullMQ on this installation's store. */
export interface Queues {
  queue(name: string): TicketQueue;
  recurring(name: string): RecurringTickets;
  /** Calls `take` for each ticket, one at a time. */
  worker(name: string, take: () => Promise<void>): TicketWorker;
  /** Rejects unless the store answers and takes tickets. */
  ping(): Promise<void>;
  /** Resolves within 2 s, also when the store is down. */
  close(): Promise<void>;
}

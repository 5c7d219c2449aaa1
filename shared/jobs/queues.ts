/** One pool's queue. A job is a ticket: "there is work". The rows say what the work is. */
export interface TicketQueue {
  /**
   * Puts one ticket on the queue. The ids of the rows that it was made for serve only people who look at the queue. Call
   * it after their commit: where enough tickets already wait it adds none, because whoever takes one of those claims
   * later than now, and so sees these rows.
   *
   * A process that filled its last free slot therefore has to claim again, without a ticket, as soon as a slot is free,
   * until a claim finds no more work. Tickets wake idle processes; they do not count the work.
   */
  add(ids: readonly string[]): Promise<void>;
}

/** Takes tickets from one queue. */
export interface TicketWorker {
  /**
   * Milliseconds since the queue last answered, with a ticket or without: the health of consumption. An idle worker
   * asks once a second. It is 0 while a ticket is in hand, because nothing is asked for then.
   */
  readonly silentMs: number;
  /** Takes no more tickets. A call of `take` that is still pending is not waited for. Resolves within 2 s. */
  close(): Promise<void>;
}

/** BullMQ on the store that this installation has. Any ticket may be lost, late or doubled. */
export interface Queues {
  queue(name: string): TicketQueue;
  /**
   * Calls `take` for each ticket, one at a time: it resolves when this process could use another one, and no ticket is
   * fetched before. It may take minutes.
   */
  worker(name: string, take: () => Promise<void>): TicketWorker;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  /** Resolves within 2 s, also when the store is down. */
  close(): Promise<void>;
}

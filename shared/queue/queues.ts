/** One pool's queue. A job is a ticket: "there is work". The rows say what the work is. */
export interface TicketQueue {
  /**
   * Adds one ticket. The ids are those of the rows that it is for; only people who look at the queue read them. Call it
   * after their commit: if enough tickets already wait it adds none, because whoever takes one of those claims later
   * than now, and so sees these rows.
   *
   * A process that filled its last free slot therefore has to claim again, without a ticket, as soon as a slot is free,
   * until a claim finds no more work. Tickets wake idle processes; they do not count the work.
   */
  add(ids: readonly string[]): Promise<void>;
  /** How many tickets wait, and how many are in hand. */
  count(): Promise<{ waiting: number; active: number }>;
}

/** Tickets that the store itself adds to a queue, one at each tick of a cron pattern, however many processes plant it. */
export interface RecurringTickets {
  /** Plants it, or replaces its pattern. Plants it again where the store has lost it. */
  plant(id: string, pattern: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Takes tickets from one queue. */
export interface TicketWorker {
  /**
   * Milliseconds since the queue last answered, with a ticket or without: the health of consumption. An idle worker
   * polls once a second. It is 0 while a ticket is in hand, because nothing is fetched then.
   */
  readonly silentMs: number;
  /** Takes no more tickets. Does not wait for a pending call of `take`. Resolves within 2 s. */
  close(): Promise<void>;
}

/** BullMQ on this installation's store. Any ticket may be lost, late or doubled. */
export interface Queues {
  queue(name: string): TicketQueue;
  recurring(name: string): RecurringTickets;
  /**
   * Calls `take` for each ticket, one at a time. `take` resolves when this process could use another one, and no ticket
   * is fetched before; that may take minutes.
   */
  worker(name: string, take: () => Promise<void>): TicketWorker;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  /** Resolves within 2 s, also when the store is down. */
  close(): Promise<void>;
}

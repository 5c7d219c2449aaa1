import type { IQueueBackend, Queue } from 'bullmq';
import type { TicketQueue } from './queues.ts';

/** More tickets than processes that could be idle at once. One more wakes nobody. */
const ENOUGH = 100;
/** How many tickets a producer adds before it looks whether enough of them wait. */
const LOOK_EVERY = 50;
/** Once only: rows that need another attempt get another ticket, and BullMQ's own redelivery is never relied on. */
const OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: 100 };

/**
 * Bounds the tickets that wait to `ENOUGH`, and about `LOOK_EVERY` for each producer. Adding a few too many costs
 * little, so that the usual add does not ask for the count. Leaving one out must be safe, so that it always does: a
 * ticket that waits now will be taken after the commit of the rows that this one was for. BullMQ's deduplication could
 * not say that: it also counts tickets that are in hand, and those may have been taken before the commit.
 */
export class BoundedTicketQueue<B extends IQueueBackend, C> implements TicketQueue {
  readonly #queue: TicketStore<B, C>;
  #addedSinceLook = 0;

  constructor(queue: TicketStore<B, C>) {
    this.#queue = queue;
  }

  async add(ids: readonly string[]): Promise<void> {
    if (this.#addedSinceLook >= LOOK_EVERY) {
      if ((await this.#queue.getWaitingCount()) >= ENOUGH) return;
      this.#addedSinceLook = 0;
    }
    await this.#queue.add('ticket', { ids: [...ids] }, OPTIONS);
    this.#addedSinceLook += 1;
  }
}

export type Ticket = { ids: string[] };
export type TicketStore<B extends IQueueBackend, C> = Queue<Ticket, void, string, Ticket, void, string, B, C>;

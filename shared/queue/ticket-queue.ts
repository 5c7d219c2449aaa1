import type { IQueueBackend, Queue } from 'bullmq';
import type { TicketQueue } from './queues.ts';

/** More tickets than processes could be idle at once: one more would wake nobody. */
const ENOUGH = 100;
/** How many tickets a producer adds before it checks how many wait. */
const LOOK_EVERY = 50;
/** How long it relies on having seen `ENOUGH` tickets waiting: all workers together take far fewer in that time. */
const COUNT_ON_MS = 10;
/** Once only: rows that need another attempt get another ticket, and BullMQ's own redelivery is never relied on. */
export const TICKET_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: 100 };

/**
 * Bounds the waiting tickets to `ENOUGH`, and about `LOOK_EVERY` for each producer. A few too many cost little, so most
 * adds skip the count. A ticket is left out only when a count, 10 ms old at most, found enough: one that still waits is
 * taken after the commit of the rows that this one is for. BullMQ's deduplication cannot promise that: it also counts
 * tickets in hand, which may have been taken before the commit.
 */
export class BoundedTicketQueue<B extends IQueueBackend, C> implements TicketQueue {
  readonly #queue: TicketStore<B, C>;
  #addedSinceLook = 0;
  #sawEnoughAt = Number.NEGATIVE_INFINITY;

  constructor(queue: TicketStore<B, C>) {
    this.#queue = queue;
  }

  async add(ids: readonly string[]): Promise<void> {
    if (this.#addedSinceLook >= LOOK_EVERY) {
      const now = performance.now();
      if (now - this.#sawEnoughAt < COUNT_ON_MS) return;
      if ((await this.#queue.getWaitingCount()) >= ENOUGH) {
        this.#sawEnoughAt = now;
        return;
      }
      this.#addedSinceLook = 0;
    }
    await this.#queue.add('ticket', { ids: [...ids] }, TICKET_OPTIONS);
    this.#addedSinceLook += 1;
  }

  async count(): Promise<{ waiting: number; active: number }> {
    const [waiting, active] = await Promise.all([
      this.#queue.getWaitingCount(),
      this.#queue.getActiveCount(),
    ]);
    return { waiting, active };
  }
}

export type Ticket = { ids: string[] };
export type TicketStore<B extends IQueueBackend, C> = Queue<Ticket, void, string, Ticket, void, string, B, C>;

import { setTimeout as sleep } from 'node:timers/promises';
import type { IQueueBackend, Queue } from 'bullmq';
import type { Log } from '../log.ts';
import type { RecurringTickets, TicketQueue } from './queues.ts';

export type Ticket = { ids: string[] };
export type TicketStore<B extends IQueueBackend, C> = Queue<Ticket, void, string, Ticket, void, string, B, C>;

/** How soon another ticket may follow. */
const EVERY_MS = 200;
const MOST_IDS = 200;
/** Rows that need another attempt get another ticket: BullMQ's own redelivery is never relied on. */
const OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
/** One serves all that came before it is taken, so there is never more than one, in hand or waiting. */
const ONE = { ...OPTIONS, deduplication: { id: 'ticket' } };

/** A process's tickets for one queue, one under way at a time. */
export class Tickets<B extends IQueueBackend, C> implements TicketQueue {
  readonly #queue: TicketStore<B, C>;
  readonly #log: Log;
  readonly #ids = new Set<string>();
  #isWanted = false;
  #adding: Promise<void> | undefined;
  #isDown = false;

  constructor(queue: TicketStore<B, C>, log: Log) {
    this.#queue = queue;
    this.#log = log;
  }

  add(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.size < MOST_IDS) this.#ids.add(id);
    this.#isWanted = true;
    this.#adding ??= this.#addWanted().finally(() => {
      this.#adding = undefined;
    });
  }

  async #addWanted(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const ids = [...this.#ids];
      this.#ids.clear();
      await this.#queue.add('ticket', { ids }, ONE).then(
        () => this.#note(false),
        (error: unknown) => this.#note(true, error),
      );
      await sleep(EVERY_MS, undefined, { ref: false });
    }
  }

  /** Logs an outage once, however many tickets it costs. */
  #note(isDown: boolean, error?: unknown): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    if (isDown)
      this.#log.warn({ err: error }, 'the queue takes no tickets: workers look for work once a second');
    else this.#log.info('the queue takes tickets again');
  }
}

/**
 * BullMQ's job schedulers. The ticket of a tick has the tick in its id, so there is one, however many processes plant the
 * same. The worker that takes it adds the next one: if it dies before that, nothing adds more until it is planted again.
 */
export function plantedIn<B extends IQueueBackend, C>(queue: TicketStore<B, C>): RecurringTickets {
  return {
    async plant(id, pattern) {
      const known = await queue.getJobScheduler(id);
      // Replacing it would drop the ticket of a tick that is due just now.
      if (known?.pattern === pattern && (known.next ?? 0) > Date.now()) return;
      const template = { name: 'ticket', data: { ids: [] }, opts: OPTIONS };
      await queue.upsertJobScheduler(id, { pattern, tz: 'UTC' }, template);
    },
    async remove(id) {
      await queue.removeJobScheduler(id);
    },
  };
}

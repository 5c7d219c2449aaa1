import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type IQueueBackend, Queue, type QueueOptions } from 'bullmq';
import type { Log } from '../log.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import type { Queues } from './queues.ts';
import { plantedIn } from './recurring-tickets.ts';
import { BoundedTicketQueue, type Ticket } from './ticket-queue.ts';
import { type Consumer, ReplacedWorker } from './ticket-worker.ts';

/** How BullMQ connects to a store. */
export interface Store<B extends IQueueBackend, C> {
  factory: BackendFactory<B, C>;
  /** Shared by all queues. */
  producer: QueueOptions<C>;
  /** One for each worker, and a new one for its replacement. */
  consumer: () => Consumer<C>;
}

/** Ticket queues by BullMQ, on any of its stores. */
export function bullmqQueues<B extends IQueueBackend, C>(
  { factory, producer, consumer }: Store<B, C>,
  log: Log,
): Omit<Queues, 'ping'> {
  const opened: { close(): Promise<void> }[] = [];
  const open = (name: string) => {
    const queue = new Queue<Ticket, void, string, Ticket, void, string, B, C>(name, producer, factory);
    queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue connection'));
    opened.push(queue);
    return queue;
  };
  return {
    queue: (name) => new BoundedTicketQueue(open(name)),
    recurring: (name) => plantedIn(open(name)),
    worker(name, take) {
      const worker = new ReplacedWorker(name, take, { factory, consumer, log });
      opened.push(worker);
      return worker;
    },
    async close() {
      // BullMQ's own close waits for a store that may be down.
      const closed = Promise.all(opened.map((one) => one.close().catch(() => {})));
      await Promise.race([closed, sleep(STOP_LIMITS.queue, undefined, { ref: false })]);
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type IQueueBackend, Queue, type QueueOptions } from 'bullmq';
import type { Log } from '../log.ts';
import type { Queues } from './queues.ts';
import { BoundedTicketQueue, type Ticket } from './ticket-queue.ts';
import { type Consumer, ReplacedWorker } from './ticket-worker.ts';

const CLOSE_WITHIN_MS = 1500;

/** What BullMQ needs to know of a store. */
export interface Store<B extends IQueueBackend, C> {
  factory: BackendFactory<B, C>;
  /** One for all queues. */
  producer: QueueOptions<C>;
  /** One for each worker, and a new one for each that replaces it. */
  consumer: () => Consumer<C>;
}

/** Queues of tickets by BullMQ on whatever store that is. */
export function bullmqQueues<B extends IQueueBackend, C>(
  { factory, producer, consumer }: Store<B, C>,
  log: Log,
): Omit<Queues, 'ping'> {
  const opened: { close(): Promise<void> }[] = [];
  return {
    queue(name) {
      const queue = new Queue<Ticket, void, string, Ticket, void, string, B, C>(name, producer, factory);
      queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue connection'));
      opened.push(queue);
      return new BoundedTicketQueue(queue);
    },
    worker(name, take) {
      const worker = new ReplacedWorker(name, take, { factory, consumer, log });
      opened.push(worker);
      return worker;
    },
    async close() {
      // A store that is down answers no goodbye.
      const closed = Promise.all(opened.map((one) => one.close().catch(() => {})));
      await Promise.race([closed, sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    },
  };
}

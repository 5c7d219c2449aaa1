import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BackendFactory,
  type IQueueBackend,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { Log } from '../log.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import type { Queues } from './queues.ts';
import { plantedIn, type Ticket, Tickets } from './tickets.ts';

/** An idle worker asks each ten seconds, or soon after its connection was refused. */
const PACE = { concurrency: 1, drainDelay: 10, runRetryDelay: 500 };
/** A ticket takes no time: one that is in hand for longer has lost its worker, and another one gets it. */
const LOST_AFTER = { lockDuration: 10_000, stalledInterval: 10_000, skipLockRenewal: true };

/** How BullMQ connects to a store. The connections are the store's: BullMQ never closes them. */
export interface Store<B extends IQueueBackend, C> {
  factory: BackendFactory<B, C>;
  producer: QueueOptions<C>;
  /** Called for each worker. */
  consumer(): Omit<WorkerOptions<C>, 'concurrency'>;
}

/** Ticket queues by BullMQ, on any of its stores. */
export function bullmqQueues<B extends IQueueBackend, C>(
  { factory, producer, consumer }: Store<B, C>,
  log: Log,
): Omit<Queues, 'ping'> {
  const opened = new Set<{ close(): Promise<void> }>();
  const open = (name: string) => {
    const queue = new Queue<Ticket, void, string, Ticket, void, string, B, C>(name, producer, factory);
    // Its connection logs them.
    queue.on('error', () => {});
    opened.add(queue);
    return queue;
  };
  return {
    queue: (name) => new Tickets(open(name), log.child({ queue: name })),
    recurring: (name) => plantedIn(open(name)),
    worker(name, take) {
      const worker = new Worker<Ticket, void, string, B, never, C>(
        name,
        take,
        { ...consumer(), ...PACE, ...LOST_AFTER },
        factory,
      );
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (_, error) => log.error({ err: error, queue: name }, 'ticket failed'));
      opened.add(worker);
      return {
        close() {
          opened.delete(worker);
          return inTime(worker.close());
        },
      };
    },
    close: () => inTime(Promise.all([...opened].map((one) => one.close()))),
  };
}

/** BullMQ's own close waits for a store that may be down. */
export async function inTime(closed: Promise<unknown>): Promise<void> {
  await Promise.race([closed, sleep(STOP_LIMITS.queue, undefined, { ref: false })]).catch(() => {});
}

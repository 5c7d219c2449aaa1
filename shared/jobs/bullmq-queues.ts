import type { BackendClasses, IQueueBackend } from 'bullmq';
import type { Log } from '../log.ts';
import { contracts, type JobPayloads } from './contracts.ts';
import type { Queues } from './queues.ts';

/**
 * BullMQ's own bound; 1 goes first. Turns grow for ever, so that they wrap here: once in two million turns, and only if
 * there is a backlog at that moment, what waits lets newer ones pass.
 */
const LOWEST_PRIORITY = 2 ** 21 - 1;

/**
 * How soon a worker asks again after its store refused the connection. BullMQ's own 15 s would outlast the deadlines of
 * all who come meanwhile.
 */
const ASK_AGAIN_MS = 500;
/** How long a worker with nothing to do waits for word of a job before it looks by itself: that word may be lost. */
const LOOK_AGAIN_S = 1;

export interface Connections<C> {
  producer: C;
  consumer: () => C;
  options?: { prefix: string; skipVersionCheck: boolean };
}

/** BullMQ on whatever store its classes are for. */
export function bullmqQueues<B extends IQueueBackend, C>(
  { Queue, Worker }: BackendClasses<B, C>,
  { producer, consumer, options }: Connections<C>,
  log: Log,
): Queues {
  const opened: { close(): Promise<void> }[] = [];
  return {
    queue(name) {
      const queue = new Queue<object>(contracts[name].queue, { connection: producer, ...options });
      queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue connection'));
      opened.push(queue);
      return {
        async add(jobs) {
          // Once only: the rows know what is to be tried again, and the queue's own redelivery is never relied on.
          const opts = { attempts: 1, removeOnComplete: true, removeOnFail: 1000 };
          await queue.addBulk(
            jobs.map(({ payload, turn }) => ({
              name,
              data: payload,
              opts: { ...opts, priority: 1 + (turn % LOWEST_PRIORITY) },
            })),
          );
        },
      };
    },
    worker(name, perform, { slots }) {
      const { queue, most } = contracts[name];
      const inHand = { jobs: 0, ids: 0 };
      /** BullMQ counts jobs; a free slot is worth one, eight of them are worth one too, for it may bring eight ids. */
      const concurrency = () => Math.max(1, inHand.jobs + Math.ceil(Math.max(0, slots - inHand.ids) / most));
      const take = (jobs: number, ids: number) => {
        inHand.jobs += jobs;
        inHand.ids += ids;
        worker.concurrency = concurrency();
      };
      const worker = new Worker<JobPayloads[typeof name]>(
        queue,
        async ({ data }) => {
          take(1, data.ids.length);
          await perform(data, () => take(0, -1)).finally(() => take(-1, 0));
        },
        {
          connection: consumer(),
          concurrency: concurrency(),
          runRetryDelay: ASK_AGAIN_MS,
          drainDelay: LOOK_AGAIN_S,
          ...options,
        },
      );
      worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker connection'));
      worker.on('failed', (job, error) => log.error({ err: error, queue: name, job: job?.id }, 'job failed'));
      return { close: () => worker.close() };
    },
    ping: async () => {},
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

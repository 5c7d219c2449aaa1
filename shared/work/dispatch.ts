import { batcher } from '../db/batcher.ts';
import type { TicketQueue } from '../queue/queues.ts';
import { rejectionOf } from '../rejection.ts';
import { retry } from '../retry.ts';

/** How long a producer tries before it reports that the queue is unreachable. */
const PATIENCE_MS = 2000;
const BACKOFF = { firstMs: 50, longestMs: 800 };
/** Ids in one ticket; only people who look at the queue read them. */
const IDS_MAX = 200;

/**
 * Notifies a pool's workers of new work: ids that arrive while a ticket is on its way share the next one. Retries with
 * backoff, and rejects when the queue stays unreachable for two seconds.
 */
export function createDispatch(queue: TicketQueue): (id: string) => Promise<void> {
  const queued = batcher(
    async (ids: string[]) => {
      // An outage affects the whole batch; do not retry items one by one.
      const fault = await inTime(() => queue.add(ids)).catch((error: unknown) => ({ error }));
      return ids.map(() => fault);
    },
    { most: IDS_MAX },
  );
  const add = async (id: string) => {
    const fault = await queued(id);
    if (fault) throw fault.error;
  };
  // Each caller has its own two seconds, however long the ticket before took.
  return (id) => inTime((signal) => retry(() => add(id), { ...BACKOFF, signal }));
}

/** Limits the time from outside: a client that waits for its connection may never answer. */
async function inTime(work: (over: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error('the queue took no ticket in time')), PATIENCE_MS);
  try {
    await Promise.race([work(over.signal), rejectionOf(over.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

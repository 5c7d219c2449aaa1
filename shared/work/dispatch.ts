import { setTimeout as sleep } from 'node:timers/promises';
import { batcher } from '../db/batcher.ts';
import type { TicketQueue } from '../jobs/queues.ts';

/** Milliseconds that a producer tries before it says that the queue is unreachable. */
const PATIENCE_MS = 2000;
/** Ids in one ticket, for people who look at the queue. */
const MOST_IDS = 200;

/**
 * Tells a pool's workers that there is work: all that is admitted while an earlier ticket is on its way shares the next
 * one. Rejects when the queue stays unreachable for two seconds.
 */
export function createDispatch(queue: TicketQueue): (id: string) => Promise<void> {
  const queued = batcher(
    async (ids: string[]) => {
      // An outage affects the whole batch; do not retry items one by one.
      const fault = await inTime(() => queue.add(ids)).catch((error: unknown) => ({ error }));
      return ids.map(() => fault);
    },
    { most: MOST_IDS },
  );
  // Each has a patience of its own: nobody waits for that of the ones before, and then for his own.
  return (id) =>
    inTime((over) =>
      persistently(async () => {
        const fault = await queued(id);
        if (fault) throw fault.error;
      }, over),
    );
}

/** A client that waits for its connection may never answer, so the clock has the last word. */
async function inTime(work: (over: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([
      work(over.signal),
      sleep(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
        throw new Error('the queue took no ticket in time');
      }),
    ]);
  } finally {
    over.abort();
  }
}

async function persistently(add: () => Promise<void>, over: AbortSignal): Promise<void> {
  for (let delay = 50; ; delay *= 2) {
    try {
      return await add();
    } catch {
      await sleep(delay, undefined, { signal: over });
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../db/combine.ts';
import { contracts } from './contracts.ts';
import type { Job, JobQueue } from './queues.ts';

/** Milliseconds that a producer tries before it says that the queue is out of reach. */
const PATIENCE_MS = 2000;

export interface Dispatched {
  id: string;
  appId: string;
  /** Its place in the queue, by which apps take turns. */
  turn: number;
}

/**
 * Puts admitted predictions on their queue: those that come while an earlier call is in flight go together, up to
 * eight of one app in a job. Rejects when the queue stays out of reach for two seconds.
 */
export function createDispatch(queue: JobQueue<'predict'>): (admitted: Dispatched) => Promise<void> {
  const queued = combine(
    async (batch: Dispatched[]) => {
      // A queue that is away is so for all of them: none is to be tried alone.
      const fault = await inTime(() => queue.add(jobsOf(batch))).catch((error: unknown) => ({ error }));
      return batch.map(() => fault);
    },
    { most: 1000 },
  );
  // Each has a patience of its own: nobody waits for that of the ones before, and then for his own.
  return (admitted) =>
    inTime((over) =>
      persistently(async () => {
        const fault = await queued(admitted);
        if (fault) throw fault.error;
      }, over),
    );
}

/** Ids by app, in the order of their arrival, at most eight together, in the turn of the first. */
export function jobsOf(batch: Dispatched[]): Job<'predict'>[] {
  const byApp = Map.groupBy(batch, ({ appId }) => appId);
  const { most } = contracts.predict;
  return [...byApp.values()].flatMap((ofApp) => {
    const jobs = Math.ceil(ofApp.length / most);
    return Array.from({ length: jobs }, (_, n) => ofApp.slice(n * most, (n + 1) * most)).map((together) => ({
      payload: { ids: together.map(({ id }) => id) },
      turn: together[0]?.turn ?? 1,
    }));
  });
}

/** A client that waits for its connection may never answer, so the clock has the last word. */
async function inTime(work: (over: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([
      work(over.signal),
      sleep(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
        throw new Error('the queue took no job in time');
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

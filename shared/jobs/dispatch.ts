import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../db/combine.ts';
import type { JobQueue } from './backend.ts';
import { contracts } from './contracts.ts';

/** Milliseconds that a producer tries before it says that the queue is out of reach. */
const PATIENCE_MS = 2000;

export interface Dispatched {
  id: string;
  appId: string;
}

/**
 * Puts admitted predictions on their queue: those that come while an earlier call is in flight go together, up to
 * eight of one app in a job. Rejects when the queue stays out of reach for two seconds.
 */
export function createDispatch(queue: JobQueue<'predict'>): (admitted: Dispatched) => Promise<void> {
  return combine(
    async (batch: Dispatched[]) => {
      await patiently(() => queue.add(jobsOf(batch)));
      return batch.map(() => undefined);
    },
    { most: 1000 },
  );
}

/** Ids by app, in the order of their arrival, at most eight together. */
export function jobsOf(batch: Dispatched[]): { ids: string[] }[] {
  const byApp = Map.groupBy(batch, ({ appId }) => appId);
  const { most } = contracts.predict;
  return [...byApp.values()].flatMap((ofApp) => {
    const ids = ofApp.map(({ id }) => id);
    return Array.from({ length: Math.ceil(ids.length / most) }, (_, n) => ({
      ids: ids.slice(n * most, (n + 1) * most),
    }));
  });
}

async function patiently(add: () => Promise<void>): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let delay = 50; ; delay *= 2) {
    try {
      return await add();
    } catch (error) {
      if (performance.now() + delay > until) throw error;
      await sleep(delay);
    }
  }
}

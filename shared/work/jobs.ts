import type { QueuedWork } from '../db/stores/work/claim.ts';
import type { Queues } from '../queue/queues.ts';
import { UUID } from '../schemas/limits.ts';
import { type Kinds, kindNamed } from './kind.ts';

/** Adds a job for each flow of work that was queued by one committed transaction. Does not wait, and never throws. */
export type AddJobs = (queued: readonly QueuedWork[]) => void;

export function jobAdder(queues: Pick<Queues, 'add'>, kinds: Kinds): AddJobs {
  return (queued) => {
    for (const [kind, ofKind] of Map.groupBy(queued, (one) => one.kind)) {
      const byParty = [...Map.groupBy(ofKind, ({ party }) => party)];
      const jobs = byParty.map(([party, pieces]) => ({
        kind,
        work: [{ party, ids: pieces.map(({ id }) => id) }],
      }));
      queues.add(kindNamed(kinds, kind).pool, jobs);
    }
  };
}

const areIds = (values: unknown) =>
  Array.isArray(values) && values.every((value) => typeof value === 'string' && UUID.test(value));

/**
 * Checks a job as it came from the queue, where people and other versions can add and change jobs. One with a party that
 * is no id would fail every claim of the worker that took it.
 */
export function isJob({ work }: { work?: unknown }): boolean {
  return Array.isArray(work) && work.every((one) => areIds([one?.party]) && areIds(one?.ids));
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { End } from '../../../domain/work.ts';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { type Queryable, query } from '../../statement.ts';

/**
 * Condition under which a completion takes effect on live work:
 *
 * - `attempt`: this worker runs this attempt, and its deadline has not passed.
 * - `queued`: the work is queued for this attempt, which nobody has claimed.
 * - `live`: the work has not ended, and is at the given attempt, if any.
 * - `overdue`: its deadline has passed.
 * - `abandoned`: it is queued, and no caller waits for it.
 * - `detached`: no caller waits for it.
 */
export type CompletionGuard =
  | { guard: 'attempt'; attempt: number; worker: string }
  | { guard: 'queued'; attempt: number }
  | { guard: 'live'; attempt?: number }
  | { guard: 'overdue' | 'abandoned' | 'detached' };

/** Identifies a piece of work. `month` is the month in which its unit was reserved; null if it costs none. */
export interface WorkRef {
  id: string;
  kind: string;
  party: string;
  month: string | null;
}

/** `parent` is the work that it is a part of, and `key` that of a job, both set by `KindRows.ending`. */
export type Completion = WorkRef & CompletionGuard & End & { parent?: string; key?: string };

const COMPLETE = {
  name: 'complete_v1',
  text: 'select place from complete_v1($1::uuid, $2::json, $3::text[], $4::int, $5::int)',
};

/**
 * Ends work of one party and settles or refunds its units, in one transaction. Returns for each item whether this try
 * ended it; false also if an earlier try ended it and its answer was lost. Work is ended and settled only once, because
 * the guard refuses a late answer of a worker that has lost its attempt. Leaves rows of its kind's own (`Kind.rows`) to
 * the caller.
 */
export async function complete(
  db: Queryable,
  batch: readonly Completion[],
  recoveryWindowS: number,
): Promise<boolean[]> {
  const rows = await query<{ place: number }>(db, COMPLETE, [
    batch[0]?.party,
    JSON.stringify(batch.map(itemOf)),
    batch.map(({ answer }) => answer ?? null),
    recoveryWindowS,
    ABANDON_AFTER_MS,
  ]);
  const endedPlaces = new Set(rows.map(({ place }) => place));
  return batch.map((_, place) => endedPlaces.has(place));
}

/** Ends work of any parties within the caller's transaction, as `complete` does. Returns the ids of the ended work. */
export async function completeWithin(
  tx: EntityManager,
  batch: readonly Completion[],
  recoveryWindowS: number,
): Promise<string[]> {
  const endedIds: string[] = [];
  // Sorts by party, so that the locks on usage are always taken in the same order.
  const byParty = [...Map.groupBy(batch, ({ party }) => party)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, ofParty] of byParty) {
    const ended = await complete(tx, ofParty, recoveryWindowS);
    endedIds.push(...ofParty.flatMap(({ id }, place) => (ended[place] ? id : [])));
  }
  return endedIds;
}

function itemOf(completion: Completion, place: number) {
  const { id, month, guard, state, settle = false, code, source, madeFrom } = completion;
  return {
    place,
    id,
    month,
    guard,
    attempt: 'attempt' in completion ? completion.attempt : undefined,
    worker: 'worker' in completion ? completion.worker : undefined,
    state,
    settle,
    code,
    source,
    report: reportText(completion),
    made_from: madeFrom,
  };
}

/** Joins report and retry delay into the text of the column `report`; `splitReport` in `find.ts` separates them. */
function reportText({ report, retryAfterMs }: End): string | undefined {
  if (report === undefined && retryAfterMs === undefined) return undefined;
  return JSON.stringify(retryAfterMs === undefined ? report : { ...(report as object), retryAfterMs });
}

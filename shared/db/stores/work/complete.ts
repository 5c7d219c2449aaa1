import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { End } from '../../../domain/work.ts';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { QUERY_TIMEOUT_MS } from '../../limits.ts';
import { query } from '../../statement.ts';
import {
  CLAIM_COLUMNS,
  type ClaimResult,
  type ClaimRow,
  type ClaimTerms,
  claimParameters,
  toClaimResult,
} from './claim.ts';

/**
 * Condition under which a completion takes effect on live work:
 *
 * - `attempt`: this worker runs this attempt, or no worker does, because a crash of the database has undone the claim,
 *   or the work was released.
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
  party: string;
  month: string | null;
}

/** `queuedMs` is the time for which the work was queued, if that is known. */
export type Completion = WorkRef & CompletionGuard & End & { queuedMs?: number };

const COMPLETE = {
  name: 'complete_v1',
  text: 'select place from complete_v1($1::uuid, $2::json, $3::text[], $4::int, $5::int)',
};

const COMPLETE_AND_CLAIM = {
  name: 'complete_and_claim_v2',
  text: `select place, ${CLAIM_COLUMNS}
           from complete_and_claim_v2($1::uuid, $2::json, $3::text[], $4::int, $5::int,
             $6::text[], $7::uuid[], $8::int[], $9::float8[], $10::int, $11::uuid, $12::text[], $13::int)`,
};

/**
 * Ends work of one party and settles or refunds its units, in one transaction. Returns for each item whether this try
 * ended it; false also if an earlier try ended it and its answer was lost. Work is ended and settled only once, because
 * the guard refuses a late answer of a worker that has lost its attempt.
 */
export async function complete(
  pool: Pool,
  batch: readonly Completion[],
  recoveryWindowS: number,
): Promise<boolean[]> {
  const rows = await query<{ place: number }>(pool, COMPLETE, completionParameters(batch, recoveryWindowS));
  return whichEnded(rows, batch);
}

/**
 * Ends work as `complete` does, and claims work for the freed slots in the same statement. Never retried after a lost
 * connection, like any claim.
 */
export async function completeAndClaim(
  pool: Pool,
  batch: readonly Completion[],
  recoveryWindowS: number,
  terms: ClaimTerms,
): Promise<{ ended: boolean[]; claimed: ClaimResult }> {
  const values = [...completionParameters(batch, recoveryWindowS), ...claimParameters(terms)];
  const rows = await query<{ place: number } | ({ place: null } & ClaimRow)>(
    pool,
    COMPLETE_AND_CLAIM,
    values,
    {
      withinMs: QUERY_TIMEOUT_MS,
    },
  );
  const claimRows = rows.flatMap((row) => (row.place === null ? row : []));
  return { ended: whichEnded(rows, batch), claimed: toClaimResult(claimRows, terms) };
}

function whichEnded(rows: readonly { place: number | null }[], batch: readonly Completion[]): boolean[] {
  const endedPlaces = new Set(rows.map((row) => row.place));
  return batch.map((_, place) => endedPlaces.has(place));
}

/** Ends work of any parties within the caller's transaction. Returns the ids of the ended work. */
export async function completeWithin(
  tx: EntityManager,
  batch: readonly Completion[],
  recoveryWindowS: number,
): Promise<string[]> {
  const endedIds: string[] = [];
  // Sorts by party, so that the locks on usage are always taken in the same order.
  const byParty = [...Map.groupBy(batch, ({ party }) => party)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, ofParty] of byParty) {
    const [party, items, answers, windowS, graceMs] = completionParameters(ofParty, recoveryWindowS);
    const rows = await tx.execute<{ place: number }[]>(
      `select place from complete_v1(?::uuid, ?::json, (select array_agg(a) from json_array_elements_text(?::json) a), ?::int, ?::int)`,
      [party, items, JSON.stringify(answers), windowS, graceMs],
    );
    endedIds.push(...rows.flatMap(({ place }) => ofParty[place]?.id ?? []));
  }
  return endedIds;
}

function completionParameters(batch: readonly Completion[], recoveryWindowS: number) {
  return [
    batch[0]?.party,
    JSON.stringify(batch.map(itemOf)),
    batch.map(({ answer }) => answer ?? null),
    recoveryWindowS,
    ABANDON_AFTER_MS,
  ] satisfies unknown[];
}

function itemOf(completion: Completion, place: number) {
  const { id, month, guard, state, settle = false, code, source } = completion;
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
  };
}

/** Joins report and retry delay into the text of the column `report`; `splitReport` in `find.ts` separates them. */
function reportText({ report, retryAfterMs }: End): string | undefined {
  if (report === undefined && retryAfterMs === undefined) return undefined;
  return JSON.stringify(retryAfterMs === undefined ? report : { ...(report as object), retryAfterMs });
}

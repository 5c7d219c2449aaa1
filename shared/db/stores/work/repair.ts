import type { Pool } from 'pg';
import { LOWEST_ID } from '../../../ids.ts';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';
import type { QueuedWork } from './claim.ts';
import type { WorkRef } from './complete.ts';

/** Live work that has to end without an answer or, if `orphaned`, has to run again because its worker died. */
export interface StrandedWork extends WorkRef {
  verdict: 'overdue' | 'abandoned' | 'detached' | 'orphaned';
}

/** Start of a search through the work of a kind, in the order of deadlines. */
const SEARCH_START = { deadlineMs: 0, id: LOWEST_ID };

/** A row without a verdict is not stranded. It is the last row of a full page, after which the next page starts. */
interface StrandedWorkRow extends WorkRef {
  verdict: StrandedWork['verdict'] | null;
  deadlineMs: number;
  isLast: boolean;
}

const STRANDED_WORK = {
  name: 'casualties_v1',
  text: `select id, kind, party, month, verdict, deadline_ms as "deadlineMs", is_last as "isLast"
           from casualties_v1($1::text[], $2::float8[], $3::uuid[], $4::int, $5::uuid, $6::int, $7::int)`,
};

/** Finds work past its deadline; with `reachMs`, only if the deadline passed within the last `reachMs`. */
export function findOverdueWork(
  pool: Pool,
  kinds: readonly string[],
  reachMs: number | null,
): AsyncGenerator<StrandedWork[]> {
  return searchStrandedWork(pool, kinds, [reachMs, null, null]);
}

/**
 * Finds work of a kind, before its deadline, whose worker has died, or that has to end because its callers left or were
 * waiting at an ingress that has died. Finds nothing unless the calling process, `judge`, has kept up its own
 * heartbeats for the whole time of a lease.
 */
export function findWorkOfDeadProcesses(
  pool: Pool,
  kind: string,
  { judge, leaseMs }: { judge: string; leaseMs: number },
): AsyncGenerator<StrandedWork[]> {
  return searchStrandedWork(pool, [kind], [null, judge, leaseMs]);
}

async function* searchStrandedWork(
  pool: Pool,
  kinds: readonly string[],
  terms: readonly unknown[],
): AsyncGenerator<StrandedWork[]> {
  let places = kinds.map((kind) => ({ ...SEARCH_START, kind }));
  while (places.length > 0) {
    const after = [
      places.map(({ kind }) => kind),
      places.map((at) => at.deadlineMs),
      places.map(({ id }) => id),
    ];
    const rows = await query<StrandedWorkRow>(pool, STRANDED_WORK, [...after, ...terms, ABANDON_AFTER_MS]);
    yield rows.flatMap(({ id, kind, party, month, verdict }) =>
      verdict === null ? [] : { id, kind, party, month, verdict },
    );
    places = rows.filter(({ isLast }) => isLast);
  }
}

const ABANDONED_WORK = {
  name: 'abandoned_v1',
  text: 'select id, kind, party, month from abandoned_v1($1::text[], $2::int, $3::int)',
};

/**
 * Finds up to 1,000 queued pieces whose last caller left at least `ABANDON_AFTER_MS` ago. With `reachMs`, finds only
 * those whose last caller left at most `reachMs` ago.
 */
export async function findAbandonedWork(
  pool: Pool,
  kinds: readonly string[],
  reachMs: number | null,
): Promise<StrandedWork[]> {
  const values = [kinds, ABANDON_AFTER_MS, reachMs];
  const rows = await query<WorkRef>(pool, ABANDONED_WORK, values);
  return rows.map((one) => ({ ...one, verdict: 'abandoned' }));
}

const RECENT_DEATHS = {
  name: 'deaths_v1',
  text: `select exists (select from processes
                         where case when id = $2::uuid then since when not is_alive(alive_until) then least(alive_until, now()) end
                               > now() - make_interval(secs => $1 / 1000.0)) as died`,
};

/**
 * Checks whether a process has died or stopped within the last `ms`. Also true if the heartbeats of `judge` have been
 * unbroken for less than `ms`, since it could not judge the processes that died before.
 */
export async function mayHaveDiedWithin(pool: Pool, ms: number, judge: string): Promise<boolean> {
  const [row] = await query<{ died: boolean }>(pool, RECENT_DEATHS, [ms, judge]);
  return row?.died ?? false;
}

const TAKE_OVER = { name: 'take_over_v1', text: 'select id, kind, party from take_over_v1($1::uuid[])' };

/** Queues orphaned work again, as a new attempt. A late answer of the former worker is then refused. */
export function takeOver(pool: Pool, ids: readonly string[]): Promise<QueuedWork[]> {
  return query<QueuedWork>(pool, TAKE_OVER, [ids]);
}

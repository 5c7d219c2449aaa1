import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';
import type { Flow } from './claim.ts';
import type { Subject } from './complete.ts';

/** Live work that has to end without an answer, or has lost its worker, and why. */
export interface Casualty extends Subject {
  kind: string;
  verdict: 'overdue' | 'abandoned' | 'detached' | 'orphaned';
}

/** How much one look returns of each kind at most. */
const PAGE = 1000;
const START = { deadlineMs: 0, id: '00000000-0000-0000-0000-000000000000' };

interface Place {
  deadlineMs: number;
  id: string;
}

const OVERDUE = {
  name: 'overdue_v1',
  text: `select id, kind, party, month, deadline_ms as "deadlineMs"
           from overdue_v1($1::text[], $2::float8[], $3::uuid[], $4::int)`,
};

/** Finds work that is past its deadline, page by page: all, or what came past it within `reachMs`. */
export async function* overdue(
  pool: Pool,
  kinds: readonly string[],
  reachMs: number | null,
): AsyncGenerator<Casualty[]> {
  const after = new Map<string, Place>(kinds.map((kind) => [kind, START]));
  while (after.size > 0) {
    const places = [...after.values()];
    const values = [
      [...after.keys()],
      places.map((at) => at.deadlineMs),
      places.map(({ id }) => id),
      reachMs,
    ];
    const found = await query<Subject & Place & { kind: string }>(pool, OVERDUE, values);
    yield found.map(({ deadlineMs: _, ...one }) => ({ ...one, verdict: 'overdue' }));
    const pages = Map.groupBy(found, ({ kind }) => kind);
    for (const kind of [...after.keys()]) {
      const last = pages.get(kind)?.[PAGE - 1];
      if (last === undefined) after.delete(kind);
      else after.set(kind, last);
    }
  }
}

const ABANDONED = {
  name: 'abandoned_v1',
  text: 'select id, kind, party, month from abandoned_v1($1::int, $2::int)',
};

/** Finds queued work whose callers have left: all, or what they left within `reachMs`. */
export async function abandoned(pool: Pool, reachMs: number | null): Promise<Casualty[]> {
  const found = await query<Subject & { kind: string }>(pool, ABANDONED, [ABANDON_AFTER_MS, reachMs]);
  return found.map((one) => ({ ...one, verdict: 'abandoned' }));
}

const DEATHS = {
  name: 'deaths_v1',
  text: `select exists (select from processes
                         where alive_until <= now() and alive_until > now() - make_interval(secs => $1 / 1000.0)) as died`,
};

/** Whether a process has died, or ended, in that time. */
export async function hasDeathsWithin(pool: Pool, ms: number): Promise<boolean> {
  const [row] = await query<{ died: boolean }>(pool, DEATHS, [ms]);
  return row?.died ?? false;
}

/** With a verdict, or the last of a full page. */
interface SweptRow extends Subject, Place {
  verdict: Casualty['verdict'] | null;
  isLast: boolean;
}

const SWEEP = {
  name: 'sweep_v1',
  text: `select id, kind, party, month, verdict, deadline_ms as "deadlineMs", is_last as "isLast"
           from sweep_v1($1, $2::float8, $3::uuid, $4::uuid, $5::int, $6::int)`,
};

/**
 * Reads all live work of a kind, page by page, for what has lost its worker or its callers with a process that died. `judge`,
 * which asks, must itself have been connected for a lease.
 */
export async function* sweep(
  pool: Pool,
  kind: string,
  { judge, leaseMs }: { judge: string; leaseMs: number },
): AsyncGenerator<Casualty[]> {
  for (let after: Place | undefined = START; after !== undefined; ) {
    const values = [kind, after.deadlineMs, after.id, judge, leaseMs, ABANDON_AFTER_MS];
    const found: SweptRow[] = await query(pool, SWEEP, values);
    yield found.flatMap(({ id, party, month, verdict }) =>
      verdict === null ? [] : { id, kind, party, month, verdict },
    );
    after = found.find(({ isLast }) => isLast);
  }
}

const TAKE_OVER = { name: 'take_over_v1', text: 'select kind, party from take_over_v1($1::uuid[])' };

/** Queues orphaned work again, as a new attempt: if the process that ran it comes back, its answer is refused. */
export function takeOver(pool: Pool, ids: readonly string[]): Promise<Flow[]> {
  return query<{ kind: string; party: string }>(pool, TAKE_OVER, [ids]);
}

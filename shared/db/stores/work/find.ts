import type { Pool } from 'pg';
import type { Fate, Outcome } from '../../../domain/work.ts';
import { TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** How long a request can be found after its end: by callers that waited for it, as a job, or at all. */
const FINDABLE_FOR = { waited: '1 hour', job: '24 hours', any: `${TOMBSTONE_DAYS} days` };

const REQUEST_COLUMNS = `id, kind, party, key, month, state, code, source, attempt, units,
  (extract(epoch from admitted_at) * 1000)::float8 as "admittedMs",
  (extract(epoch from ended_at) * 1000)::float8 as "endedMs",
  extract(epoch from expires_at)::float8 as "expiresAt", queue_ms as "queueMs", facts, progress, report, answer`;

const FIND_REQUESTS = {
  name: 'find_v1',
  text: `select ${REQUEST_COLUMNS} from find_v1($1::uuid[], $2::interval, $3)`,
};

/** Returns SQL that reads a request in any state as JSON. `key` is an SQL expression. */
export const requestJsonSql = (key: string) =>
  `select to_json(f) from (select ${REQUEST_COLUMNS} from find_v1(array[${key}], '${FINDABLE_FOR.any}', false)) f where f.id is not null`;

export type RequestRow = Omit<Outcome, 'facts' | 'report' | 'retryAfterMs'> &
  Pick<Job, 'kind' | 'admittedMs' | 'endedMs'> & {
    facts: string;
    progress: string | null;
    report: string | null;
  };

/**
 * Finds the outcomes of ended requests for callers that still wait. The outcome is `gone` for a key without a request.
 */
export async function outcomesOf(
  pool: Pool,
  keys: readonly string[],
  withinMs?: number,
): Promise<Map<string, Fate>> {
  const values = [keys, FINDABLE_FOR.waited, true];
  const rows = await query<RequestRow | { id: null; key: string }>(pool, FIND_REQUESTS, values, { withinMs });
  return new Map(rows.map((row) => [row.key, row.id === null ? 'gone' : outcomeOf(row)]));
}

/** Finds a request in any state; undefined if there is none, or it ended more than `TOMBSTONE_DAYS` days ago. */
export async function findRequest(pool: Pool, key: string): Promise<Outcome | undefined> {
  const [row] = await query<RequestRow | { id: null }>(pool, FIND_REQUESTS, [[key], FINDABLE_FOR.any, false]);
  return row === undefined || row.id === null ? undefined : outcomeOf(row);
}

const FACTS_BEFORE = {
  name: 'facts_before_v1',
  text: `select facts from history
          where key = $1::uuid and attempt < $2
            and ended_at > now() - tombstone_age() and ended_at < now() + clock_slack()
          order by id desc, attempt desc limit 1`,
};

/** Reads the facts of a request's previous attempt; undefined if none has ended in the last `TOMBSTONE_DAYS` days. */
export async function factsBefore(pool: Pool, key: string, attempt: number): Promise<unknown> {
  const [row] = await query<{ facts: string }>(pool, FACTS_BEFORE, [key, attempt]);
  return row && JSON.parse(row.facts);
}

/** A piece of work, as shown to the app or account that owns it. */
export interface Job extends Pick<Outcome, 'key' | 'state' | 'code'> {
  kind: string;
  /** Stored by the handler while the job runs; `report` is stored by the handler when the job ends. */
  progress: unknown;
  report: unknown;
  admittedMs: number;
  endedMs: number | null;
}

export interface JobRef {
  party: string;
  key: string;
}

/**
 * Finds jobs by party and key. Returns undefined for a job that has another kind or party, or ended more than 24 hours
 * ago.
 */
export async function findJobs(
  pool: Pool,
  refs: readonly JobRef[],
  kinds: readonly string[],
  withinMs?: number,
): Promise<(Job | undefined)[]> {
  const keys = refs.map(({ key }) => key);
  const values = [keys, FINDABLE_FOR.job, false];
  const rows = await query<RequestRow | { id: null; key: string }>(pool, FIND_REQUESTS, values, { withinMs });
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return refs.map(({ party, key }) => {
    const row = byKey.get(key);
    if (row === undefined || row.id === null || row.party !== party || !kinds.includes(row.kind))
      return undefined;
    const { kind, state, code, admittedMs, endedMs } = row;
    return {
      key,
      kind,
      state,
      code,
      admittedMs,
      endedMs,
      progress: parseJson(row.progress),
      report: parseJson(row.report),
    };
  });
}

export function outcomeOf({
  kind: _,
  admittedMs,
  endedMs,
  progress,
  facts,
  report,
  ...row
}: RequestRow): Outcome {
  return { ...row, facts: JSON.parse(facts), ...splitReport(parseJson(report)) };
}

function parseJson(json: string | null) {
  return json === null ? null : JSON.parse(json);
}

/** Separates the report from the retry delay, which `reportText` in `complete.ts` has joined. */
function splitReport(column: { retryAfterMs?: number } | null): Pick<Outcome, 'report' | 'retryAfterMs'> {
  if (column?.retryAfterMs === undefined) return { report: column, retryAfterMs: null };
  const { retryAfterMs, ...report } = column;
  return { report: Object.keys(report).length === 0 ? null : report, retryAfterMs };
}

const FIND_UNERASED_PARTY = {
  name: 'standing_party_v1',
  text: `select 1 from accounts where id = $1::uuid and erasing_at is null union all select 1 from apps where id = $1::uuid`,
};

/** Checks whether the party is an account that has been erased, or is being erased. */
export async function isErased(pool: Pool, party: string): Promise<boolean> {
  return (await query<object>(pool, FIND_UNERASED_PARTY, [party])).length === 0;
}

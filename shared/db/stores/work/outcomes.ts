import type { Pool } from 'pg';
import type { Fate, Outcome } from '../../../domain/work.ts';
import { query } from '../../statement.ts';

const COLUMNS = `id, party, key, month, state, code, source, attempt, units,
  extract(epoch from expires_at)::float8 as "expiresAt", queue_ms as "queueMs", facts, report, answer`;

type OutcomeRow = Omit<Outcome, 'facts' | 'report' | 'retryAfterMs'> & {
  facts: string;
  report: string | null;
};

const OUTCOMES = { name: 'outcomes_v2', text: `select ${COLUMNS} from outcomes_v2($1::uuid[])` };

/** What became of those requests, of callers that still wait, that no longer run, by their keys. Gives up after `withinMs`. */
export async function outcomesOf(
  pool: Pool,
  keys: readonly string[],
  options?: { withinMs: number },
): Promise<Map<string, Fate>> {
  const rows = await query<OutcomeRow | { id: null; key: string }>(pool, OUTCOMES, [keys], options);
  return new Map(rows.map((row) => [row.key, row.id === null ? 'gone' : parsed(row)]));
}

const FIND = {
  name: 'find_v1',
  text: `select ${COLUMNS} from find_v1($1::uuid)`,
};

/** A request in any state, by its key; undefined after `TOMBSTONE_DAYS`. */
export async function findRequest(pool: Pool, key: string): Promise<Outcome | undefined> {
  const [row] = await query<OutcomeRow>(pool, FIND, [key]);
  return row && parsed(row);
}

function parsed({ facts, report, ...row }: OutcomeRow): Outcome {
  return { ...row, facts: JSON.parse(facts), ...reported(report === null ? null : JSON.parse(report)) };
}

/** Takes apart what `reportText` in `complete.ts` put together. */
function reported(column: { retryAfterMs?: number } | null): Pick<Outcome, 'report' | 'retryAfterMs'> {
  if (column?.retryAfterMs === undefined) return { report: column, retryAfterMs: null };
  const { retryAfterMs, ...report } = column;
  return { report: Object.keys(report).length === 0 ? null : report, retryAfterMs };
}

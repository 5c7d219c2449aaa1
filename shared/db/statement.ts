import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, QueryResultRow } from 'pg';
import { isSerializationConflict, isUnavailable } from './faults.ts';

const MOST_TRIES = 4;

/** A statement of the heart: prepared once per connection under its name, and safe to repeat. */
export interface Statement {
  name: string;
  text: string;
}

/**
 * Runs a statement and returns its rows. Conflicts of concurrent transactions and lost connections are tried again:
 * when a commit's answer was lost the repetition finds its own effect, so only statements that are safe to repeat
 * may come here. `withinMs` gives the answer up after so long, and tries once only.
 */
export async function query<Row extends QueryResultRow>(
  pool: Pool,
  statement: Statement,
  values: unknown[],
  options: { withinMs?: number } = {},
): Promise<Row[]> {
  const limit = options.withinMs === undefined ? {} : { query_timeout: options.withinMs };
  for (let tries = 1; ; tries += 1) {
    try {
      const { rows } = await pool.query<Row>({ ...statement, ...limit, values });
      return rows;
    } catch (error) {
      const again =
        isSerializationConflict(error) ||
        (isUnavailable(error) && tries === 1 && options.withinMs === undefined);
      if (!again || tries === MOST_TRIES) throw error;
      await sleep(Math.random() * 10 * 2 ** tries);
    }
  }
}

import type { Pool, QueryResultRow } from 'pg';
import { retry } from '../timing/retry.ts';
import { isAnswerLost, isUnavailable } from './faults.ts';
import { RETRY_ON_CONFLICT } from './retries.ts';

/** A statement that is prepared once per connection, under its name. */
export interface SqlStatement {
  name: string;
  text: string;
}

/**
 * Runs a statement and returns its rows. Retries after a conflict with another transaction, and once after a lost
 * connection. If only the answer to a commit was lost, the second run finds the effect of the first, so the statement
 * must be safe to repeat; if the second run fails as well, its error has that of the first as its cause. With
 * `withinMs`, each try gives up after that time, and none follows a lost connection.
 */
export async function query<Row extends QueryResultRow>(
  pool: Pool,
  statement: SqlStatement,
  values: unknown[],
  options: { withinMs?: number | undefined } = {},
): Promise<Row[]> {
  const limit = options.withinMs === undefined ? {} : { query_timeout: options.withinMs };
  let lostAnswerError: unknown;
  const run = async () => {
    try {
      return await pool.query<Row>({ ...statement, ...limit, values });
    } catch (error) {
      if (lostAnswerError !== undefined && lostAnswerError !== error && error instanceof Error)
        error.cause ??= lostAnswerError;
      else if (isAnswerLost(error)) lostAnswerError = error;
      throw error;
    }
  };
  const { rows } = await retry(run, {
    ...RETRY_ON_CONFLICT,
    when: (error, tries) =>
      RETRY_ON_CONFLICT.when(error, tries) ||
      (isUnavailable(error) && tries === 1 && options.withinMs === undefined),
  });
  return rows;
}

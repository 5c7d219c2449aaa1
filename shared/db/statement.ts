import type { EntityManager } from '@mikro-orm/postgresql';
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
 * connection. The statement must be safe to repeat, because the first run may have been committed although its answer
 * was lost. If the second run fails as well, its error has the first error as its cause. With `withinMs`, each run is
 * limited to that time, and a lost connection is not retried.
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

/**
 * Runs `work` in a transaction. After a conflict with another one (40001, 40P01), runs it again from the beginning, a
 * few times at most.
 */
export function transaction<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  return retry(() => em.fork().transactional(work), RETRY_ON_CONFLICT);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool, QueryResultRow } from 'pg';
import { retry } from '../timing/retry.ts';
import { isAnswerLost, isUnavailable } from './faults.ts';
import { RETRY_ON_CONFLICT } from './retries.ts';

/** Connections to the database, and the ORM on the same pool. */
export interface Connections {
  pool: Pool;
  em(): EntityManager;
}

/** The pool, or the transaction of an entity manager. */
export type Queryable = Pool | EntityManager;

/** A statement that is prepared once per connection, under its name. */
export interface SqlStatement {
  name: string;
  text: string;
}

/**
 * Runs a statement and returns its rows. Retries after a conflict with another transaction, and once after a lost
 * connection. The statement must be safe to repeat, because the first run may have been committed although its answer
 * was lost. If the second run fails as well, its error has the first error as its cause. With `withinMs`, each run is
 * limited to that time, and a lost connection is not retried. Within a transaction, nothing is retried.
 */
export async function query<Row extends QueryResultRow>(
  db: Queryable,
  statement: SqlStatement,
  values: unknown[],
  options: { withinMs?: number | undefined } = {},
): Promise<Row[]> {
  if ('execute' in db) return queryWithin<Row>(db, statement, values);
  const limit = options.withinMs === undefined ? {} : { query_timeout: options.withinMs };
  let lostAnswerError: unknown;
  const run = async () => {
    try {
      return await db.query<Row>({ ...statement, ...limit, values });
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

/** Sends arrays as JSON, because the ORM's driver mangles some texts in them. */
function queryWithin<Row extends QueryResultRow>(
  tx: EntityManager,
  { text }: SqlStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  const placed: unknown[] = [];
  const sql = text.replace(/\$(\d+)(?:::(\w+)\[\])?/g, (_, place: string, itemType?: string) => {
    const value = values[Number(place) - 1];
    placed.push(itemType === undefined ? value : JSON.stringify(value));
    return itemType === undefined ? '?' : `array(select json_array_elements_text(?::json)::${itemType})`;
  });
  return tx.execute<Row[]>(sql, placed);
}

/**
 * Runs `work` in a transaction. After a conflict with another one (40001, 40P01), runs it again from the beginning, a
 * few times at most.
 */
export function transaction<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  return retry(() => em.fork().transactional(work), RETRY_ON_CONFLICT);
}

/** As `transaction`, and runs `work` once more after a lost connection: it must be safe to repeat. */
export function repeatableTransaction<T>(
  em: EntityManager,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  return retry(() => transaction(em, work), {
    ...RETRY_ON_CONFLICT,
    when: (error, tries) => isUnavailable(error) && tries === 1,
  });
}

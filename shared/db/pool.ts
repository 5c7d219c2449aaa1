import type { Client, Pool } from 'pg';

const ROLLED_BACK = { command: 'ROLLBACK', rowCount: 0, rows: [], fields: [], oid: 0 };

const SILENT = 'Query read timeout';

/**
 * Removes connections that die inside a transaction from the pool. The query builder under the ORM never releases them
 * (kysely issue 1990), so after `max` such deaths every query would hang. Therefore a failed rollback counts as done,
 * and a failed begin releases its connection here. A connection that stops answering is ended; the pool drops ended
 * clients.
 */
export function mendPool(pool: Pool): void {
  pool.on('connect', (client) => {
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    const mended = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (!(result instanceof Promise)) return result;
      result.catch((error: Error) => {
        if (error.message === SILENT) void (client as unknown as Client).end();
      });
      const statement = statementOf(args[0]);
      if (statement === 'rollback') return result.catch(() => ROLLED_BACK);
      if (statement === 'begin' || statement.startsWith('start transaction')) {
        return result.catch((error: unknown) => {
          client.release(true);
          throw error;
        });
      }
      return result;
    };
    Object.assign(client, { query: mended });
  });
}

function statementOf(query: unknown): string {
  if (typeof query === 'string') return query;
  if (typeof query === 'object' && query !== null && 'text' in query && typeof query.text === 'string') {
    return query.text;
  }
  return '';
}

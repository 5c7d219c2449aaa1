import { connect } from 'node:net';
import type { Client, Pool, PoolClient, PoolOptions } from 'pg';
import { assertTakesWrites, READ_ONLY_SQLSTATE } from '../primary.ts';
import { LOCAL_SETTINGS } from './limits.ts';

const ROLLED_BACK = { command: 'ROLLBACK', rowCount: 0, rows: [], fields: [], oid: 0 };

const SILENT = 'Query read timeout';

/**
 * Removes connections that die inside a transaction from the pool. The query builder under the ORM never releases them
 * (kysely issue 1990), so after `max` such deaths every query would hang. Therefore a failed rollback counts as done,
 * and a failed begin releases its connection here. A connection that stops answering, or whose server takes no more writes, is
 * ended; the pool drops ended clients, and connects to no server that takes none.
 */
export function mendPool(pool: Pool): void {
  pool.options.onConnect = assertTakesWrites;
  pool.on('connect', (client) => {
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    const mended = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (!(result instanceof Promise)) return result;
      result.catch((error: Error & { code?: string }) => {
        if (error.message === SILENT || error.code === READ_ONLY_SQLSTATE)
          void (client as unknown as Client).end();
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

/**
 * Adapts a pool's connections to a pooler in transaction mode, which may run each transaction in another session:
 *
 * - a statement loses its name, since the session that runs it may not be the one that prepared it. (PgBouncer
 *   supports such names from 1.21 on, and only with `max_prepared_statements`; our functions cache their plans anyway.)
 * - a transaction brings its settings along;
 * - a statement outside of a transaction has no `statement_timeout`, so it is cancelled from here after `cancelAfterMs`,
 *   and before its own `query_timeout`. Disconnecting would not end it: the server would carry on, and behind a locked
 *   row such statements would pile up until it had no session left.
 */
export function usePooler(pool: Pool, { cancelAfterMs }: { cancelAfterMs: number }): void {
  pool.on('connect', (client) => {
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    let timer: NodeJS.Timeout | undefined;
    const done = () => clearTimeout(timer);
    client.on('drain', done).on('end', done);
    const pooled = (statement: unknown, ...rest: unknown[]): unknown => {
      done();
      const limitMs = Math.min(cancelAfterMs, CANCEL_AT * timeoutOf(statement));
      timer = setTimeout(() => cancel(pool.options, client), limitMs).unref();
      return query(adapt(statement), ...rest);
    };
    Object.assign(client, { query: pooled });
  });
}

/** The fraction of `query_timeout` at which we cancel; at its end the driver disconnects. */
const CANCEL_AT = 0.9;

function timeoutOf(statement: unknown): number {
  const { query_timeout: ms } = Object(statement) as { query_timeout?: number };
  return ms ?? Number.POSITIVE_INFINITY;
}

function adapt(statement: unknown): unknown {
  if (statement === 'begin' || (typeof statement === 'string' && statement.startsWith('start transaction'))) {
    return `${statement}; ${LOCAL_SETTINGS}`;
  }
  if (typeof statement === 'object' && statement !== null && 'name' in statement) {
    return { ...statement, name: undefined };
  }
  return statement;
}

const CANCEL_REQUEST = 80877102;
const CANCEL_TIMEOUT_MS = 5000;

/**
 * Sends the protocol's cancel request on a connection of its own: behind a pooler `pg_cancel_backend` has no usable
 * pid.
 */
function cancel(options: PoolOptions, client: PoolClient): void {
  const [host, port] = [options.host || 'localhost', options.port || 5432];
  const { processID, secretKey } = client as PoolClient & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [n, value] of [request.length, CANCEL_REQUEST, processID, secretKey].entries()) {
    request.writeInt32BE(value, 4 * n);
  }
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // If nobody answers, `query_timeout` ends the wait.
  socket
    .on('error', () => {})
    .setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy())
    .unref();
  // Left open here: PgBouncer drops the request of a client that disconnects.
  socket.write(request);
}

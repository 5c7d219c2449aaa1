import { connect } from 'node:net';
import pg, { type Client, type Pool, type PoolClient, type PoolOptions } from 'pg';
import { assertTakesWrites, READ_ONLY_SQLSTATE } from '../primary.ts';
import { LOCAL_SETTINGS } from './limits.ts';

const ROLLBACK_RESULT = { command: 'ROLLBACK', rowCount: 0, rows: [], fields: [], oid: 0 };

/** Message of pg's error after `query_timeout`. */
const READ_TIMEOUT_MESSAGE = 'Query read timeout';

/** Makes a pool use TLS as the address says (`sslmode`, `sslrootcert`): of an address the ORM reads no parameter. */
export function useTlsOf(url: string, pool: Pool): void {
  pool.options.ssl = new pg.Client({ connectionString: url }).ssl;
}

/**
 * Makes a pool drop connections that break inside a transaction. The query builder under the ORM never releases such a
 * connection (kysely issue 1990), so after `max` of them every query would hang. Therefore a failed rollback is
 * reported as done, so that the builder releases the connection, and a failed begin releases its connection here. A
 * connection is also closed if it stops answering or its server takes no more writes. The pool drops closed
 * connections, and opens none to a server that takes no writes.
 */
export function dropBrokenConnections(pool: Pool): void {
  pool.options.onConnect = assertTakesWrites;
  pool.on('connect', (client) => {
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    const guardedQuery = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (!(result instanceof Promise)) return result;
      result.catch((error: Error & { code?: string }) => {
        if (error.message === READ_TIMEOUT_MESSAGE || error.code === READ_ONLY_SQLSTATE)
          void (client as unknown as Client).end();
      });
      const statement = statementOf(args[0]);
      if (statement === 'rollback') return result.catch(() => ROLLBACK_RESULT);
      if (statement === 'begin' || statement.startsWith('start transaction')) {
        return result.catch((error: unknown) => {
          client.release(true);
          throw error;
        });
      }
      return result;
    };
    Object.assign(client, { query: guardedQuery });
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
 * - A statement loses its name, since the session that runs it may not be the one that prepared it. (PgBouncer supports
 *   such names from 1.21 on, and only with `max_prepared_statements`; our functions cache their plans anyway.)
 * - A transaction makes its settings itself, after `begin`.
 * - A statement outside of a transaction has no `statement_timeout`, so it is cancelled from here after
 *   `cancelAfterMs`, or shortly before its own `query_timeout` if that is shorter. Disconnecting would not end it: the
 *   server would carry on, and behind a locked row such statements would pile up until the server had no session left.
 */
export function adaptToPooler(pool: Pool, { cancelAfterMs }: { cancelAfterMs: number }): void {
  pool.on('connect', (client) => {
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    let timer: NodeJS.Timeout | undefined;
    const stopTimer = () => clearTimeout(timer);
    client.on('drain', stopTimer).on('end', stopTimer);
    const pooledQuery = (statement: unknown, ...rest: unknown[]): unknown => {
      stopTimer();
      const limitMs = Math.min(cancelAfterMs, CANCEL_FRACTION * timeoutOf(statement));
      timer = setTimeout(() => cancel(pool.options, client), limitMs).unref();
      return query(adaptStatement(statement), ...rest);
    };
    Object.assign(client, { query: pooledQuery });
  });
}

/** Fraction of `query_timeout` after which a statement is cancelled. After all of it, the connection is closed. */
const CANCEL_FRACTION = 0.9;

function timeoutOf(statement: unknown): number {
  const { query_timeout: ms } = Object(statement) as { query_timeout?: number };
  return ms ?? Number.POSITIVE_INFINITY;
}

function adaptStatement(statement: unknown): unknown {
  if (statement === 'begin' || (typeof statement === 'string' && statement.startsWith('start transaction'))) {
    return `${statement}; ${LOCAL_SETTINGS}`;
  }
  if (typeof statement === 'object' && statement !== null && 'name' in statement) {
    return { ...statement, name: undefined };
  }
  return statement;
}

const CANCEL_REQUEST_CODE = 80877102;
const CANCEL_TIMEOUT_MS = 5000;

/**
 * Sends the protocol's cancel request on a connection of its own: behind a pooler, the pid that `pg_cancel_backend`
 * needs is unknown.
 */
function cancel(options: PoolOptions, client: PoolClient): void {
  const [host, port] = [options.host || 'localhost', options.port || 5432];
  const { processID, secretKey } = client as PoolClient & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [n, value] of [request.length, CANCEL_REQUEST_CODE, processID, secretKey].entries()) {
    request.writeInt32BE(value, 4 * n);
  }
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // If the request has no effect, `query_timeout` ends the statement's wait.
  socket
    .on('error', () => {})
    .setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy())
    .unref();
  // The socket stays open: PgBouncer drops the request of a client that disconnects.
  socket.write(request);
}

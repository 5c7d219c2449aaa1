import { connect } from 'node:net';
import type { Pool, PoolClient, PoolOptions } from 'pg';
import { LOCAL_SETTINGS } from './limits.ts';

/**
 * Makes a pool's connections fit for a pooler in transaction mode, which lends each transaction another session:
 *
 * - a statement loses its name, since the session that runs it may not be the one that prepared it. (PgBouncer knows
 *   such names from 1.21 on, and only with `max_prepared_statements`; what our functions do inside stays planned.)
 * - a transaction brings its settings along;
 * - a statement outside of a transaction has no `statement_timeout`, so that it is cancelled from here after
 *   `cancelAfterMs`, or before its own `query_timeout` is over. To hang up would not end it: the server goes on, and
 *   behind a locked row such statements would pile up until it has no session left.
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

/** Of the time after which the driver hangs up. */
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
const PATIENCE_MS = 5000;

/** By the protocol's own request, on a connection of its own: the pids that a pooler shows are not the server's. */
function cancel(options: PoolOptions, client: PoolClient): void {
  const [host, port] = [options.host || 'localhost', options.port || 5432];
  const { processID, secretKey } = client as PoolClient & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [n, value] of [request.length, CANCEL_REQUEST, processID, secretKey].entries()) {
    request.writeInt32BE(value, 4 * n);
  }
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // Where nobody answers, `query_timeout` gives the statement up.
  socket
    .on('error', () => {})
    .setTimeout(PATIENCE_MS, () => socket.destroy())
    .unref();
  // Not ended here: PgBouncer forgets the request of a client that hangs up.
  socket.write(request);
}

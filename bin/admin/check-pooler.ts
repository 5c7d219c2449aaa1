import type { Pool, PoolClient } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import { diagnose } from './admin-error.ts';
import { type Finding, fault, fine } from './checks.ts';
import { useDatabase } from './command.ts';

/** `none` is PostgreSQL itself; the others are the modes of a pooler. */
type Pooling = 'none' | 'session' | 'transaction';

export async function checkPooler({ database: { url, directUrl } }: AdminConfig): Promise<Finding> {
  if (url !== directUrl) {
    const direct = await poolingAt(directUrl).catch((error: unknown) =>
      diagnose(error, 'DATABASE_DIRECT_URL'),
    );
    if (typeof direct !== 'string') return fault(direct.what, direct.toDo);
    if (direct !== 'none')
      return fault(
        'DATABASE_DIRECT_URL leads to a pooler',
        'set it to PostgreSQL itself: LISTEN needs a session',
      );
  }
  const pooling = await poolingAt(url);
  if (url !== directUrl && (await databaseAt(url)) !== (await databaseAt(directUrl)))
    return fault(
      'DATABASE_DIRECT_URL leads to another database than DATABASE_URL',
      'set it to the same one, past the pooler',
    );
  if (pooling === 'none') return fine('none: DATABASE_URL leads to PostgreSQL itself');
  const found = `DATABASE_URL leads to a pooler in ${pooling} mode`;
  if (pooling === 'session')
    return fault(
      found,
      'set its pool_mode to transaction, and DATABASE_DIRECT_URL to PostgreSQL itself: in session mode it saves no connection',
    );
  return url === directUrl
    ? fault(`${found}, without a DATABASE_DIRECT_URL`, 'set DATABASE_DIRECT_URL to PostgreSQL itself')
    : fine(found);
}

function poolingAt(url: string): Promise<Pooling> {
  return usePool(url, async (pool) => {
    const clients: PoolClient[] = [];
    try {
      for (let n = 0; n < 2; n += 1) clients.push(await pool.connect());
      return await detectPooling(clients);
    } finally {
      for (const client of clients) client.release();
    }
  });
}

/** Returns what two addresses of one database have in common, whatever a pooler calls it. */
function databaseAt(url: string): Promise<string | undefined> {
  return usePool(url, async (pool) => {
    const { rows } = await pool.query<{ id: string }>(
      `select concat(extract(epoch from pg_postmaster_start_time()), ' ', oid) as id
         from pg_database where datname = current_database()`,
    );
    return rows[0]?.id;
  });
}

function usePool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  // An empty `directUrl` keeps the start-up parameters out of the connection: a pooler would refuse them.
  return useDatabase({ database: { url, directUrl: '', poolSize: 2 } }, ({ pool }) => work(pool));
}

/** In the handshake, a pooler states a process id of its own. In session mode, a client keeps one server process. */
async function detectPooling(clients: readonly PoolClient[]): Promise<Pooling> {
  const pids: number[][] = [];
  for (const client of clients) {
    const own: number[] = [];
    for (let n = 0; n < 3; n += 1) own.push(await pidOf(client));
    pids.push(own);
  }
  const announcedPids = clients.map((client) => (client as PoolClient & { processID: number }).processID);
  if (pids.every((own, n) => own.every((pid) => pid === announcedPids[n]))) return 'none';
  const distinctPids = pids.map((own) => new Set(own));
  return distinctPids.every((own) => own.size === 1) && new Set(pids.flat()).size === clients.length
    ? 'session'
    : 'transaction';
}

async function pidOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

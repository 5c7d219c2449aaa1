import type { Pool, QueryResultRow } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import { isUnavailable } from '../../shared/db/faults.ts';
import { missingMigrations } from '../../shared/db/migrate.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { createLog, isFromPostgres } from '../../shared/log.ts';
import { assertQueueReady, queueSchema } from '../../shared/queue/postgres-queues.ts';
import { diagnose } from './admin-error.ts';
import { type Finding, fault, fine } from './check.ts';
import { checkRedis } from './redis-check.ts';

const OLDEST_VERSION = 15;
/** Longer than a query takes, and too short to matter for months or expiring keys. */
const DRIFT_MAX_MS = 5000;
const SANE_FROM = Date.UTC(2026);
const SANE_UNTIL = Date.UTC(2100);

export async function checkDatabase(pool: Pool): Promise<Finding> {
  const { version, place, readOnly } = await one<{ version: string; place: string; readOnly: boolean }>(
    pool,
    `select current_setting('server_version') as version, current_database() as place,
            current_setting('transaction_read_only')::bool as "readOnly"`,
  );
  const found = `PostgreSQL ${version}, database ${place}`;
  if (Number.parseInt(version, 10) < OLDEST_VERSION)
    return fault(found, `use PostgreSQL ${OLDEST_VERSION} or later`);
  if (readOnly) return fault(`${found}, which takes no writes`, 'point DATABASE_URL at the primary');
  return fine(found);
}

export async function checkMigrations(pool: Pool): Promise<Finding> {
  const missing = await missingMigrations(pool);
  return missing.length === 0
    ? fine('all are applied')
    : fault(`missing: ${missing.join(', ')}`, 'run `npm run migrate`');
}

/** Checks the queue where it is: on Redis, or on PostgreSQL at its direct address, the only one that the queue uses. */
export async function checkQueue(config: AdminConfig): Promise<Finding> {
  if (config.redis !== undefined) return checkRedis(config.redis);
  try {
    await checkQueueTables(config);
    return fine(`its tables are in the schema ${queueSchema(config.queuePrefix)}`);
  } catch (error) {
    const { url, directUrl } = config.database;
    const { what, toDo } = diagnose(error, directUrl === url ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL');
    if (isUnavailable(error) || isFromPostgres(error)) return fault(what, toDo);
    // BullMQ's own error: its tables are missing or of another version.
    return fault(what.split('. ', 1).join(), 'run `npm run migrate` of this release');
  }
}

async function checkQueueTables({
  database: { directUrl, poolSize },
  queuePrefix,
}: AdminConfig): Promise<void> {
  const direct = { database: { url: directUrl, directUrl, poolSize } };
  const database = await openDatabase(direct, createLog('admin', 'silent'), 'forecue admin');
  try {
    await assertQueueReady(database.pool, queuePrefix);
  } finally {
    await database.close();
  }
}

export async function checkClock(pool: Pool): Promise<Finding> {
  const before = Date.now();
  const { now } = await one<{ now: number }>(
    pool,
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  // The answer was taken at some moment of the query, so the drift is at least this.
  const drift = Math.max(before - now, now - Date.now(), 0);
  const found = `the database's is at ${new Date(now).toISOString()}, ${(drift / 1000).toFixed(1)} s from this machine's`;
  if (now < SANE_FROM || now > SANE_UNTIL) return fault(found, "set the database machine's clock");
  if (drift > DRIFT_MAX_MS) return fault(found, 'synchronise the clocks of both machines (NTP)');
  return fine(found);
}

async function one<Row extends QueryResultRow>(pool: Pool, text: string): Promise<Row> {
  const { rows } = await pool.query<Row>(text);
  if (rows[0] === undefined) throw new Error('the database answered nothing');
  return rows[0];
}

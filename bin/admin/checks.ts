import type { Pool, QueryResultRow } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import type { RedisTarget } from '../../shared/config/values.ts';
import { isUnavailable } from '../../shared/db/faults.ts';
import { hasFunctions } from '../../shared/db/functions.ts';
import { missingMigrations } from '../../shared/db/missing-migrations.ts';
import { clockAheadMs } from '../../shared/db/processes.ts';
import { messageOf } from '../../shared/errors/message-of.ts';
import { createLog, isFromPostgres } from '../../shared/log.ts';
import { assertQueueReady, queueSchema } from '../../shared/queue/postgres-store.ts';
import {
  connectRedis,
  type RedisClient,
  readMemory,
  SAFE_EVICTION_POLICY,
  takesWrites,
} from '../../shared/queue/redis.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import { diagnose } from './admin-error.ts';
import { useDatabase } from './command.ts';

/** Result of a check of `admin doctor`; `to_do` is null when all is well. */
export interface Finding {
  ok: boolean;
  found: string;
  to_do: string | null;
}

/** `ok` is null for a check that waits for another. `see` is the document about the faults that the check finds. */
export interface Check extends Omit<Finding, 'ok'> {
  name: string;
  ok: boolean | null;
  see: string | null;
}

/** The message `fetch failed` says nothing; its cause does. */
export function fetchFailureOf(error: unknown): string {
  const reason = error instanceof Error ? (error.cause ?? error) : error;
  return reason instanceof Error ? reason.message || reason.name : String(reason);
}

export const fine = (found: string): Finding => ({ ok: true, found, to_do: null });

export const fault = (found: string, toDo: string): Finding => ({ ok: false, found, to_do: toDo });

const OLDEST_POSTGRES_MAJOR = 15;
/** Tolerated difference between two clocks: longer than a query takes, too short to matter to billing or key expiry. */
export const DRIFT_MAX_MS = 5000;
const EARLIEST_PLAUSIBLE_MS = Date.UTC(2026);
const LATEST_PLAUSIBLE_MS = Date.UTC(2100);

export async function checkDatabase(pool: Pool): Promise<Finding> {
  const { version, place } = await queryRow<{ version: string; place: string }>(
    pool,
    `select current_setting('server_version') as version, current_database() as place`,
  );
  const found = `PostgreSQL ${version}, database ${place}`;
  if (Number.parseInt(version, 10) < OLDEST_POSTGRES_MAJOR)
    return fault(found, `use PostgreSQL ${OLDEST_POSTGRES_MAJOR} or later`);
  return fine(found);
}

export async function checkMigrations(pool: Pool): Promise<Finding> {
  const missing = await missingMigrations(pool);
  if (missing.length > 0) return fault(`missing: ${missing.join(', ')}`, 'run `npm run migrate`');
  return (await hasFunctions(pool))
    ? fine('all are applied')
    : fault('the SQL functions are of an older version', 'run `npm run migrate`');
}

/** Checks Redis or, if the queue is in PostgreSQL, its tables through the direct address, which the queue uses too. */
export async function checkQueue(config: AdminConfig): Promise<Finding> {
  if (config.redis !== undefined) return checkRedis(config.redis);
  try {
    await checkQueueTables(config);
    return fine(`its tables are in the schema ${queueSchema(config.queuePrefix)}`);
  } catch (error) {
    const { url, directUrl } = config.database;
    const { what, toDo } = diagnose(error, directUrl === url ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL');
    if (isUnavailable(error) || isFromPostgres(error)) return fault(what, toDo);
    // Any other error is BullMQ's: its tables are missing or have another version.
    return fault(
      what.split('. ', 1).join(),
      'run `npm run migrate` of this release, or correct QUEUE_PREFIX',
    );
  }
}

function checkQueueTables({ database: { directUrl, poolSize }, queuePrefix }: AdminConfig): Promise<void> {
  const direct = { database: { url: directUrl, directUrl, poolSize } };
  return useDatabase(direct, ({ pool }) => assertQueueReady(pool, queuePrefix));
}

export async function checkClock(pool: Pool): Promise<Finding> {
  const before = Date.now();
  const { now } = await queryRow<{ now: number }>(
    pool,
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  const driftMs = Math.abs(clockAheadMs(before, now, Date.now()));
  const found = `the database's is at ${new Date(now).toISOString()}, ${(driftMs / 1000).toFixed(1)} s from this machine's`;
  if (now < EARLIEST_PLAUSIBLE_MS || now > LATEST_PLAUSIBLE_MS)
    return fault(found, "set the database machine's clock");
  if (driftMs > DRIFT_MAX_MS) return fault(found, 'synchronise the clocks of both machines (NTP)');
  return fine(found);
}

async function queryRow<Row extends QueryResultRow>(pool: Pool, text: string): Promise<Row> {
  const { rows } = await pool.query<Row>(text);
  if (rows[0] === undefined) throw new Error('the database answered nothing');
  return rows[0];
}

const REDIS_TIMEOUT_MS = 3000;

async function checkRedis(target: RedisTarget): Promise<Finding> {
  const client = connectRedis(target, 'consumer', createLog('admin', 'silent'));
  try {
    return await withTimeout(
      REDIS_TIMEOUT_MS,
      () => examineRedis(client, target.kind),
      () => new NoAnswerError(),
    );
  } catch (error) {
    if (!(error instanceof NoAnswerError))
      return fault(`Redis refused (${messageOf(error)})`, 'correct REDIS_URL, with its user and password');
    return fault(
      `Redis does not answer within ${REDIS_TIMEOUT_MS / 1000} s`,
      'start it, or correct REDIS_URL',
    );
  } finally {
    client.disconnect();
  }
}

class NoAnswerError extends Error {}

async function examineRedis(client: RedisClient, kind: RedisTarget['kind']): Promise<Finding> {
  const { policy, used, limit } = await readMemory(client);
  const found = `Redis (${kind}), maxmemory-policy ${policy}`;
  if (policy !== SAFE_EVICTION_POLICY) return fault(found, `set maxmemory-policy to ${SAFE_EVICTION_POLICY}`);
  if (limit > 0 && used >= limit)
    return fault(
      `${found}: its memory is full, so it takes no writes`,
      'raise maxmemory, or free some of it',
    );
  return (await takesWrites(client))
    ? fine(found)
    : fault(
        'Redis takes no writes: it is a read-only replica',
        'point REDIS_URL at the primary, or end the replication (`redis-cli replicaof no one`)',
      );
}

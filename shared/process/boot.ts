import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseConfig } from '../config/config.ts';
import { hasFunctions } from '../db/functions.ts';
import { missingMigrations } from '../db/missing-migrations.ts';
import type { Database } from '../db/orm.ts';
import { isCopy } from '../db/place.ts';
import { countPendingErasures } from '../db/stores/erasures.ts';
import { makeWeeks } from '../db/stores/work/forget.ts';
import { messageOf } from '../errors/message-of.ts';
import type { Log } from '../log.ts';
import { watchMigrations } from '../metrics/process.ts';
import { assertQueueReady } from '../queue/postgres-store.ts';

const POLL_EVERY_MS = 500;
const LOG_EVERY_MS = 5000;

const COPY =
  'this database is a copy, in which may be again what people erased since it was made: `admin restored` with --erasures or --replaces; with --keep-log-ins after a mere move or upgrade';

/**
 * Resolves when the database takes writes, has all migrations and this version's SQL functions, and is no copy in which
 * something is left to erase that people erased since. Also waits for the queue's tables, unless the queue is on Redis. Nothing that uses the tables or functions may be opened earlier.
 */
export async function waitForDatabase(
  database: Database,
  config: Pick<BaseConfig, 'redis' | 'queuePrefix'>,
  log: Log,
): Promise<void> {
  const migrations = { missing: 0 };
  const watch = watchMigrations(migrations);
  try {
    for (let loggedAt = Number.NEGATIVE_INFINITY; ; await sleep(POLL_EVERY_MS)) {
      const missing = await whatIsMissing(database, config, migrations);
      if (missing === undefined) return;
      if (performance.now() - loggedAt < LOG_EVERY_MS) continue;
      loggedAt = performance.now();
      log.warn({ missing }, 'not ready: waiting for the database (`npm run migrate` applies migrations)');
    }
  } finally {
    watch.close();
  }
}

/**
 * Returns what the database lacks, or the error of the check; undefined if nothing is missing. Sets `counts.missing` to
 * the number of missing migrations.
 */
async function whatIsMissing(
  database: Database,
  config: Pick<BaseConfig, 'redis' | 'queuePrefix'>,
  counts: { missing: number },
): Promise<string | undefined> {
  try {
    const migrations = await missingMigrations(database.pool);
    counts.missing = migrations.length;
    if (migrations.length > 0) return migrations.join(', ');
    if (!(await hasFunctions(database.pool))) return 'the SQL functions of this version';
    if (config.redis === undefined) await assertQueueReady(database.pool, config.queuePrefix);
    if (await isCopy(database.pool)) return COPY;
    const pending = await countPendingErasures(database.pool);
    if (pending > 0) return `${pending} erasures of a restore (\`admin restored\` finishes them)`;
    // This week's partitions are missing if all processes were stopped for weeks.
    await makeWeeks(database.pool);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${messageOf(error)}` : String(error);
  }
}

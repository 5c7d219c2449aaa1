import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseConfig } from './config/config.ts';
import { hasFunctions } from './db/functions.ts';
import { missingMigrations } from './db/migrate.ts';
import type { Database } from './db/orm.ts';
import { makeWeeks } from './db/stores/work/forget.ts';
import { assertQueueReady } from './jobs/postgres-queues.ts';
import type { Log } from './log.ts';

const LOOK_EVERY_MS = 500;
const SAY_EVERY_MS = 5000;

/**
 * Resolves when the database answers and has every migration. Until then the process stays unready and says what it
 * waits for: nothing that touches the queue or the tables may be made before.
 */
export async function waitForDatabase(database: Database, config: BaseConfig, log: Log): Promise<void> {
  for (let said = Number.NEGATIVE_INFINITY; ; await sleep(LOOK_EVERY_MS)) {
    const missing = await whatIsMissing(database, config);
    if (missing === undefined) return;
    if (performance.now() - said < SAY_EVERY_MS) continue;
    said = performance.now();
    log.warn({ missing }, 'not ready: waiting for the database (migrations are run by `npm run migrate`)');
  }
}

async function whatIsMissing(database: Database, config: BaseConfig): Promise<string | undefined> {
  try {
    const migrations = await missingMigrations(database.pool);
    if (migrations.length > 0) return migrations.join(', ');
    if (!(await hasFunctions(database.pool))) return 'the SQL functions of this version';
    if (config.redis === undefined) await assertQueueReady(database.pool, config.queuePrefix);
    // After a long stop of all processes.
    await makeWeeks(database.pool);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

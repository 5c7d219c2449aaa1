import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { retry } from '../timing/retry.ts';
import { isLockNotAvailable, isSerializationConflict } from './faults.ts';
import { installFunctions } from './functions.ts';
import { HOT_PATH_LOCK_TIMEOUT_MS } from './limits.ts';
import { ormOptions } from './orm.ts';
import { useTlsOf } from './pool.ts';

/**
 * Shorter than the lock timeouts of the service's statements: while a migration waits for the lock on a table, all
 * later statements on that table wait behind the migration, even reads. After the timeout, the migration tries again.
 */
const LOCK_TIMEOUT_MS = 0.6 * HOT_PATH_LOCK_TIMEOUT_MS;
const BACKOFF = { firstMs: 1000, longestMs: 1000 };
const POLL_MS = 100;
const APPLICATION_NAME = 'forecue migrate';

/** While another process migrates, a migration waits without a limit, unless `signal` aborts. */
export interface MigrationWait {
  /**
   * Time to keep trying each step (migrations, functions, other tables) while other transactions lock the tables; 2
   * minutes by default.
   */
  patienceMs?: number | undefined;
  /** Ends the waits for others, and makes the call reject. A step that has begun is finished, and no other begins. */
  signal?: AbortSignal | undefined;
}

interface MigrateOptions extends MigrationWait {
  directUrl: string;
  /** Brings other tables of the database up to date, under the same lock. Must be safe to repeat. */
  migrateOthers: (client: pg.Client) => Promise<unknown>;
}

/**
 * Brings our tables and functions up to date, then calls `migrateOthers`. Any number of processes may call it at once:
 * an advisory lock lets one work, and the rest find everything done. `directUrl` bypasses a pooler, because the lock
 * belongs to a session.
 *
 * Each migration is a transaction of its own. On a large table it may only do what takes no time under the lock: add a
 * column without a volatile default, or a constraint that is `not valid` (a later migration validates it). An index on
 * a large table needs a migration of its own, which is safe to repeat and whose `isTransactional()` returns false:
 *
 *     this.addSql('set lock_timeout = 0'); // building waits for older transactions, but blocks nobody
 *     this.addSql('drop index concurrently if exists things_by_name'); // an invalid index of a failed attempt
 *     this.addSql('create index concurrently things_by_name on things (name)');
 *     this.addSql('reset lock_timeout');
 */
export async function migrateDatabase({
  directUrl,
  migrateOthers,
  ...patience
}: MigrateOptions): Promise<void> {
  const client = new pg.Client({ connectionString: directUrl, application_name: APPLICATION_NAME });
  // Ignores errors: the next statement fails as well.
  client.on('error', () => {});
  await client.connect();
  try {
    await takeMigrationLock(client, patience);
    const orm = new MikroORM({
      ...ormOptions(directUrl),
      // One session, so that a setting made by a migration without a transaction holds for all of its statements.
      pool: { min: 0, max: 1 },
      driverOptions: {
        lock_timeout: LOCK_TIMEOUT_MS,
        application_name: APPLICATION_NAME,
        onPoolCreated: (pool: pg.Pool) => useTlsOf(directUrl, pool),
      },
      logger: () => {},
    });
    try {
      await retryWhileLocked(() => orm.migrator.up(), patience);
    } finally {
      await orm.close(true);
    }
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await retryWhileLocked(() => installFunctions(client), patience);
    await retryWhileLocked(() => migrateOthers(client), patience);
  } finally {
    await client.end();
  }
}

/**
 * Takes the advisory lock, which ends with the session. Polls, because a session that waits for the lock holds a
 * snapshot, and the lock's holder may be building an index concurrently, which waits for all older snapshots.
 */
async function takeMigrationLock(client: pg.Client, { signal }: MigrationWait): Promise<void> {
  const tryLock = `select pg_try_advisory_lock(hashtext('forecue migrations')) as taken`;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(tryLock);
    if (rows[0]?.taken) return;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Repeats `work` while other transactions lock the tables. Parts that an attempt has committed stay done: the next
 * attempt continues after them.
 */
async function retryWhileLocked(
  work: () => Promise<unknown>,
  { patienceMs = 120_000, signal }: MigrationWait,
): Promise<void> {
  const when = (error: unknown) => isLockNotAvailable(error) || isSerializationConflict(error);
  try {
    await retry(work, { ...BACKOFF, when, until: performance.now() + patienceMs, signal });
  } catch (error) {
    if (!when(error)) throw error;
    throw new Error('a table stays locked: find its holder in pg_stat_activity, then try again', {
      cause: error,
    });
  }
}

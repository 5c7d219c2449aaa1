import assert from 'node:assert/strict';
import { MikroORM } from '@mikro-orm/postgresql';
import { HOT_PATH_LOCK_TIMEOUT_MS } from '../../shared/db/limits.ts';
import { ormOptions } from '../../shared/db/orm.ts';
import { migrate } from '../../shared/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

/** The last one before the migration that adds an index to `predictions` and references to `apps`. */
const BEFORE = 'Migration20261120000002';
const USED = 'predictions';

describe('a migration of a table that is in use', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase({ empty: true });
    const orm = new MikroORM({ ...ormOptions(database.url), logger: () => {} });
    await orm.migrator.up({ to: BEFORE });
    await orm.close(true);
  });
  afterEach(() => database.drop());

  const migrated = (patienceMs?: number) =>
    migrate({
      directUrl: database.url,
      queuePrefix: 'forecue',
      ...(patienceMs !== undefined && { patienceMs }),
    });
  const waiting = async () => {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'forecue migrate'
          and wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  };

  it('gives way again and again, so that nobody waits long behind it, and is done when the table is free', async () => {
    const user = await database.pool.connect();
    await user.query(`begin; lock table ${USED} in row exclusive mode`);
    const done = migrated();
    const other = await database.pool.connect();
    await other.query(`set lock_timeout = ${HOT_PATH_LOCK_TIMEOUT_MS}`);
    for (let n = 0; n < 3; n += 1) {
      await until(waiting);
      // Behind the migration in the queue for the lock, as a writer.
      await other.query(`begin; lock table ${USED} in row exclusive mode; commit`);
      await until(async () => !(await waiting()));
    }
    await user.query('rollback');
    user.release();
    other.release();
    await done;
    const { rowCount } = await database.pool.query(
      `select from pg_class where relname = 'connections_app_user'`,
    );
    assert.equal(rowCount, 1);
  });

  it('keeps what was done before it, and says what is the matter when it gives up', async () => {
    const user = await database.pool.connect();
    await user.query(`begin; lock table ${USED} in row exclusive mode`);
    await assert.rejects(migrated(500), /stays locked/);
    const applied = await database.pool.query<{ name: string }>(
      'select name from mikro_orm_migrations order by name',
    );
    assert.equal(applied.rows.at(-1)?.name, BEFORE);
    await user.query('rollback');
    user.release();
    await migrated();
  });
});

import assert from 'node:assert/strict';
import { MikroORM } from '@mikro-orm/postgresql';
import { hasFunctions } from '../../shared/db/functions.ts';
import { HOT_PATH_LOCK_TIMEOUT_MS } from '../../shared/db/limits.ts';
import { missingMigrations } from '../../shared/db/missing-migrations.ts';
import { ormOptions } from '../../shared/db/orm.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

/** Steps of an upgrade, each with a table lock that blocks it. The second step needs the first. */
const STEPS = [
  { step: 'a migration', lock: 'mikro_orm_migrations in share mode', migrated: false },
  {
    step: 'an installation of the SQL functions',
    lock: 'raw_memories in row exclusive mode',
    migrated: true,
  },
];

for (const { step, lock, migrated } of STEPS)
  describe(`${step} that needs a table in use`, () => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await createDatabase({ empty: true });
      const orm = new MikroORM({ ...ormOptions(database.url), logger: () => {} });
      await (migrated ? orm.migrator.up() : orm.migrator.getExecuted());
      await orm.close(true);
    });
    afterEach(() => database.drop());

    const migrating = (patienceMs?: number) =>
      migrate({
        directUrl: database.url,
        queuePrefix: 'forecue',
        ...(patienceMs !== undefined && { patienceMs }),
      });
    const isWaiting = async () => {
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'forecue migrate'
            and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    };
    const isDone = async () =>
      (await missingMigrations(database.pool)).length === 0 && (await hasFunctions(database.pool));

    it(`${step} that needs a locked table retries until the table is free, and blocks other statements only briefly #migration`, async () => {
      const user = await database.pool.connect();
      await user.query(`begin; lock table ${lock}`);
      const done = migrating();
      const other = await database.pool.connect();
      await other.query(`set lock_timeout = ${HOT_PATH_LOCK_TIMEOUT_MS}`);
      for (let n = 0; n < 3; n += 1) {
        await until(isWaiting);
        // This statement waits for the lock behind the step.
        await other.query(`begin; lock table ${lock}; commit`);
        await until(async () => !(await isWaiting()));
      }
      await user.query('rollback');
      user.release();
      other.release();
      await done;
      assert.equal(await isDone(), true);
    });

    it(`${step} fails with an explanation if its table stays locked, undoes no earlier step, and can be repeated`, async () => {
      const user = await database.pool.connect();
      await user.query(`begin; lock table ${lock}`);
      await assert.rejects(migrating(500), /stays locked/);
      assert.equal((await missingMigrations(database.pool)).length === 0, migrated);
      assert.equal(await isDone(), false);
      await user.query('rollback');
      user.release();
      await migrating();
      assert.equal(await isDone(), true);
    });
  });

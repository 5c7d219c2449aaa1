import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrateDatabase } from '../../shared/db/migrate.ts';
import { MIGRATIONS, ormOptions } from '../../shared/db/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

describe('migrations', () => {
  let database: TestDatabase;
  let files: string[];

  before(async () => {
    files = await readdir(MIGRATIONS);
    database = await createDatabase({ empty: true });
    // Without the queue's tables, which no entity describes.
    await migrateDatabase({ directUrl: database.url, others: async () => {} });
  });

  after(() => database.drop());

  it('the migrations write nothing into the installation', async () => {
    assert.deepEqual(await readdir(MIGRATIONS), files);
  });

  it('the migrations make exactly the tables that the entities describe', async () => {
    assert.equal(await differs(database), false);
  });

  it('migrations and entities are compared in the database itself: a missing column is a difference', async () => {
    await database.pool.query('alter table accounts drop column if exists email');
    assert.equal(await differs(database), true);
  });
});

/** Whether the tables differ from what the entities describe. */
async function differs({ url }: TestDatabase): Promise<boolean> {
  const orm = new MikroORM({ ...ormOptions(url), logger: () => {} });
  try {
    return await orm.migrator.checkSchema();
  } finally {
    await orm.close();
  }
}

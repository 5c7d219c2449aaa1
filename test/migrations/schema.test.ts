import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrateDatabase } from '../../shared/db/migrate.ts';
import { MIGRATIONS_FOLDER } from '../../shared/db/missing-migrations.ts';
import { ormOptions } from '../../shared/db/orm.ts';
import { type TestDatabase, useDatabase } from '../support/database.ts';

describe('migrations', () => {
  const database = useDatabase({ empty: true });
  let files: string[];

  before(async () => {
    files = await readdir(MIGRATIONS_FOLDER);
    // The queue's tables are left out, since no entity describes them.
    await migrateDatabase({ directUrl: database.url, migrateOthers: async () => {} });
  });

  it('migrating writes no files into the migrations folder', async () => {
    assert.deepEqual(await readdir(MIGRATIONS_FOLDER), files);
  });

  it('the migrations create exactly the tables that the entities describe', async () => {
    assert.equal(await differsFromEntities(database), false);
  });
});

async function differsFromEntities({ url }: TestDatabase): Promise<boolean> {
  const orm = new MikroORM({ ...ormOptions(url), logger: () => {} });
  try {
    return await orm.migrator.checkSchema();
  } finally {
    await orm.close();
  }
}

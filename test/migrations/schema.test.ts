import assert from 'node:assert/strict';
import { MikroORM } from '@mikro-orm/postgresql';
import { ormOptions } from '../../shared/db/orm.ts';
import { createDatabase } from '../support/database.ts';

describe('the migrations', () => {
  it('make exactly the tables that the entities describe', async () => {
    const database = await createDatabase();
    const orm = new MikroORM({ ...ormOptions(database.url), logger: () => {} });
    try {
      assert.equal(await orm.migrator.checkSchema(), false);
    } finally {
      await orm.close();
      await database.drop();
    }
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { MIGRATIONS, ormOptions } from '../../shared/db/orm.ts';
import { migrate } from '../../shared/migrate.ts';
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

  it('write nothing into the installation, also beside the tables of somebody else', async () => {
    const snapshot = join(MIGRATIONS, 'snapshot.json');
    const before = await stat(snapshot);
    const database = await createDatabase({ empty: true });
    try {
      // Another name each time: a snapshot that has it already is not written again.
      const schema = `of_${randomUUID().replaceAll('-', '')}`;
      await database.pool.query(
        `create schema ${schema}; create table ${schema}.reports (id int primary key)`,
      );
      await migrate({ directUrl: database.url, queuePrefix: 'forecue' });
      assert.equal((await stat(snapshot)).mtimeMs, before.mtimeMs);
    } finally {
      await database.drop();
    }
  });
});

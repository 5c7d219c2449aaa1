import assert from 'node:assert/strict';
import { hasFunctions } from '../../shared/db/functions.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { useDatabase } from '../support/database.ts';

describe('upgrade', () => {
  const database = useDatabase({ empty: true });
  const runMigrations = () => migrate({ directUrl: database.url, queuePrefix: 'forecue' });
  const useFunctionsOf = async (version: string) => {
    await database.pool.query(`
      create or replace function clock_slack() returns interval language sql immutable as $$ select interval '7 minutes' $$;
      delete from installed_functions;
      insert into installed_functions (hash, version) values ('another', '{${version}}')`);
  };
  const slack = async () =>
    (await database.pool.query<{ slack: string }>('select clock_slack()::text as slack')).rows[0]?.slack;

  before(runMigrations);

  it('an older version that migrates after an upgrade does not undo the upgrade, and its processes can run', async () => {
    await useFunctionsOf('1000,0,0');
    await runMigrations();
    assert.equal(await slack(), '00:07:00');
    assert.equal(await hasFunctions(database.pool), true);
  });

  it('a version replaces the SQL functions of an older one, without which its processes do not start', async () => {
    await useFunctionsOf('0,0,9');
    assert.equal(await hasFunctions(database.pool), false);
    await runMigrations();
    assert.notEqual(await slack(), '00:07:00');
    assert.equal(await hasFunctions(database.pool), true);
  });
});

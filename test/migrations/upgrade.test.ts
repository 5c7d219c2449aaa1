import assert from 'node:assert/strict';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { hasFunctions } from '../../shared/db/functions.ts';
import { missingMigrations } from '../../shared/db/migrate.ts';
import { ormOptions } from '../../shared/db/orm.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** Defines a function of the product with another body and other options, as an older version may have done. */
const OLDER_FUNCTIONS = `
  create function take_over_v1(_ids uuid[]) returns table (kind text, party uuid) language sql set work_mem = '1MB'
    as 'select null::text, null::uuid'`;

describe('upgrade', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase({ empty: true });
  });
  afterEach(() => database.drop());
  const runMigrations = () => migrate({ directUrl: database.url, queuePrefix: 'forecue' });

  it('an upgrade step by step from an older version gives the same schema as a fresh installation', async () => {
    const orm = new MikroORM({ ...ormOptions(database.url), logger: () => {} });
    for (const name of await missingMigrations(database.pool)) await orm.migrator.up({ to: name });
    await orm.close(true);
    await database.pool.query(OLDER_FUNCTIONS);
    await database.pool.query(
      `insert into installed_functions (hash, version) values ('of an older version', 0)`,
    );
    await runMigrations();

    const fresh = await createDatabase();
    try {
      assert.deepEqual(await schemaOf(database.pool), await schemaOf(fresh.pool));
    } finally {
      await fresh.drop();
    }
  });

  it('an older version that migrates after an upgrade does not undo the upgrade, and its processes can run', async () => {
    await runMigrations();
    await database.pool.query(`
      create or replace function clock_slack() returns interval language sql immutable as $$ select interval '7 minutes' $$;
      insert into installed_functions (hash, version) values ('of a newer version', 1000)`);
    await runMigrations();
    const { rows } = await database.pool.query('select clock_slack()::text as slack');
    assert.deepEqual(rows, [{ slack: '00:07:00' }]);
    await database.pool.query(`delete from installed_functions where version < 1000`);
    assert.equal(await hasFunctions(database.pool), true);
  });
});

/** Describes each schema object in a line, except the weekly partitions. */
async function schemaOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(`
    with tables as (
      select c.oid, c.relname as name, c.relpersistence as persistence, c.reloptions as options
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname !~ '^(pg_|information_schema)' and c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
    )
    select format('table %s: %s %s', t.name, t.persistence, t.options) as line from tables t
    union all
    select format('column %s.%s: %s %s %s', t.name, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                  pg_get_expr(d.adbin, d.adrelid))
      from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    union all
    select pg_get_indexdef(i.indexrelid) from tables t join pg_index i on i.indrelid = t.oid
    union all
    select format('constraint %s.%s: %s', t.name, c.conname, pg_get_constraintdef(c.oid))
      from tables t join pg_constraint c on c.conrelid = t.oid
    union all
    select format('trigger %s', pg_get_triggerdef(g.oid)) from tables t join pg_trigger g on g.tgrelid = t.oid
     where not g.tgisinternal
    union all
    select pg_get_functiondef(p.oid) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname !~ '^(pg_|information_schema)'
    union all
    select format('type %s', y.typname) from pg_type y join pg_namespace n on n.oid = y.typnamespace
     where n.nspname !~ '^(pg_|information_schema)' and y.typname !~ '\\d{8}$'
    order by line`);
  return rows.map(({ line }) => line);
}

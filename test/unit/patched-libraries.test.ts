import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openDatabase } from '../../shared/db/orm.ts';
import { transaction } from '../../shared/db/statement.ts';
import { createLog } from '../../shared/log.ts';
import { useDatabase } from '../support/database.ts';

const LOG = createLog('test', 'silent');

/** Versions of libraries whose internals we override or rely on. Read the internals again before changing one. */
const VERSIONS = {
  bullmq: '6.7.0',
  kysely: '0.29.6',
  pg: '8.23.0',
};

describe('library internals', () => {
  const database = useDatabase();

  for (const [name, version] of Object.entries(VERSIONS))
    it(`the installed version of ${name} is ${version}, because the product relies on its internals`, async () => {
      const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
      assert.equal(JSON.parse(await readFile(manifest, 'utf8')).version, version);
    });

  it(`a database connection that breaks in a transaction is removed from the pool (kysely ${VERSIONS.kysely}, pg ${VERSIONS.pg})`, async () => {
    const { url } = database;
    const config = { database: { url, directUrl: url, poolSize: 1 } };
    const opened = await openDatabase(config, LOG, 'patched');
    try {
      for (let deaths = 0; deaths < 2; deaths += 1)
        await assert.rejects(
          transaction(opened.orm.em, (tx) => tx.execute('select pg_terminate_backend(pg_backend_pid())')),
        );
      assert.deepEqual((await opened.pool.query('select 1 as n')).rows, [{ n: 1 }]);
    } finally {
      await opened.close();
    }
  });
});

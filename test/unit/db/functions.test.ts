import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { useDatabase } from '../../support/database.ts';

/** Functions with other settings: they create or drop tables, erase, record, search, or run in transactions. */
const FUNCTIONS_WITH_OTHER_SETTINGS = [
  'announce_v1',
  'drop_weeks_v1',
  'erase_made_with_v1',
  'lock_admissions_v1',
  'make_weeks_v1',
  'memory_context_v1',
  'record_v1',
  'sync_page_v1',
];

describe('SQL functions', () => {
  const database = useDatabase();

  it('every SQL function called from TypeScript gets the common lock timeout, except those that the test lists', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select proname as name from pg_proc where proconfig @> array['enable_bitmapscan=off', 'plan_cache_mode=force_generic_plan']`,
    );
    const sources = globSync('shared/db/stores/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const called = new Set(sources.flatMap((source) => source.match(/\b[a-z_]+_v\d+(?=\()/g) ?? []));
    assert.deepEqual(
      [...called].filter((name) => !FUNCTIONS_WITH_OTHER_SETTINGS.includes(name)).sort(),
      rows.map(({ name }) => name).sort(),
    );
  });
});

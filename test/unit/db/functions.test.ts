import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { functionsOfThisVersion, HASHES } from '../../../shared/db/functions.ts';

/** Functions with other settings: they create or drop tables, erase, record, search, or run in transactions. */
const FUNCTIONS_WITH_OTHER_SETTINGS = [
  'drop_weeks_v1',
  'erase_made_with_v1',
  'lock_admissions_v1',
  'make_weeks_v1',
  'memory_context_v3',
  'record_v2',
  'sync_page_v1',
];

describe('SQL functions', () => {
  it('HASHES in shared/db/functions.ts ends with the hash of the current SQL functions, and has no duplicates', async () => {
    const { hash } = await functionsOfThisVersion();
    assert.equal(HASHES.at(-1), hash, `append '${hash}' to HASHES in shared/db/functions.ts`);
    assert.equal(new Set(HASHES).size, HASHES.length);
  });

  it('every SQL function called from TypeScript gets the common lock timeout, except those that the test lists', async () => {
    const { text } = await functionsOfThisVersion();
    const sources = globSync('shared/db/stores/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const called = new Set(sources.flatMap((source) => source.match(/\b[a-z_]+_v\d+(?=\()/g) ?? []));
    const set = Array.from(text.matchAll(/^alter function (\w+) set lock_timeout/gm), ([, name]) => name);
    assert.deepEqual(
      [...called].filter((name) => !FUNCTIONS_WITH_OTHER_SETTINGS.includes(name)).sort(),
      set.sort(),
    );
  });
});

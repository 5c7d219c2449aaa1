import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { functionsOfThisVersion, HASHES } from '../../../shared/db/functions.ts';

/** They make and drop tables, erase, record events, search memory, or run in transactions: with other settings. */
const WITH_OTHER_SETTINGS = [
  'drop_weeks_v1',
  'erase_made_with_v1',
  'lock_admissions_v1',
  'make_weeks_v1',
  'memory_context_v3',
  'record_v2',
];

describe('SQL functions', () => {
  it('the SQL functions have a version for each text that they ever had', async () => {
    const { hash } = await functionsOfThisVersion();
    assert.equal(HASHES.at(-1), hash, `append '${hash}' to HASHES in shared/db/functions.ts`);
    assert.equal(new Set(HASHES).size, HASHES.length);
  });

  it('the SQL functions bring their settings along when TypeScript calls them', async () => {
    const { text } = await functionsOfThisVersion();
    const sources = globSync('shared/db/stores/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const called = new Set(sources.flatMap((source) => source.match(/\b[a-z_]+_v\d+(?=\()/g) ?? []));
    const set = Array.from(text.matchAll(/^alter function (\w+) set lock_timeout/gm), ([, name]) => name);
    assert.deepEqual([...called].filter((name) => !WITH_OTHER_SETTINGS.includes(name)).sort(), set.sort());
  });
});

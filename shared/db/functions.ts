import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase, Pool } from 'pg';
import { FUNCTION_SETTINGS, SQL_CONSTANTS } from './limits.ts';

/**
 * The SQL functions that TypeScript calls to process work and to recall phrases. `FUNCTION_SETTINGS` are attached to
 * each, and apply to the functions that it calls as well.
 */
const ENTRY_FUNCTIONS = [
  'abandoned_v2',
  'admit_v1',
  'casualties_v1',
  'claim_v2',
  'complete_and_claim_v2',
  'complete_v1',
  'detach_v2',
  'find_v1',
  'load_v1',
  'phrases_after_v1',
  'queued_flows_v1',
  'recall_phrases_v1',
  'reclaim_v1',
  'release_v1',
  'take_over_v1',
];

/**
 * Hashes of all versions of the functions, oldest first; the length of the list is the version number. After a change
 * of `sql/`, `ENTRY_FUNCTIONS`, `SQL_CONSTANTS` or `FUNCTION_SETTINGS`, append the new hash, which
 * `test/unit/db/functions.test.ts` prints.
 */
export const HASHES = [
  '396da4bbb615af0a',
  '33116964839364c1',
  '491e5922a88a5dc1',
  'ca7c3db82a9a33a4',
  '9817fd1453e15c1b',
  '29427448c6b0a4b5',
  '460be94b24e8ad40',
  'c1028100896ffd7d',
  'a527fe3449a07fe8',
  '7d7db6837d8a7500',
  'bd00f02a869feaf6',
  'd6a51e9169d39286',
  'c235a69376c7d076',
  'e9d5195886adce1d',
  '527d98118199b8e1',
  '506da514ff56c7a1',
  'd5eefc8b79be960d',
  'c93642e21d69fd48',
  'c379dbefb3e403b3',
  '56bb4ab657e9c779',
  '9dda22cfec122c5a',
  'b371a9fbac546064',
  '15907b4ae17c481f',
  'ebd39ca51c8ec9e8',
  '0cedc6c7949b97ab',
  '0022f25b62b7ed60',
  '2225b9b346d43c9b',
  '4b274f0198493e92',
  '32fdcaae03bfa44f',
  '001cb7d2255f97c9',
  '5a6bac6bc97acd67',
  '9d39ca82b861d897',
  '29a35820167453a6',
];

/**
 * Reads the SQL functions and triggers of this version. A function whose parameters or results change gets a new name;
 * the old one stays for old processes until a later migration drops it. Other changes apply to old processes too.
 */
export async function functionsOfThisVersion(): Promise<{ text: string; version: number; hash: string }> {
  const folder = new URL('./sql/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const bodies = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')));
  const constants = Object.entries(SQL_CONSTANTS).map(
    // The planner replaces each call by the value.
    ([name, value]) => `create or replace function ${name}() returns interval language sql immutable
      as $$ select ${value} $$;`,
  );
  const settings = ENTRY_FUNCTIONS.map((name) => `alter function ${name} ${FUNCTION_SETTINGS};`);
  const text = [...constants, ...bodies, ...settings].join('\n');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { text, version: HASHES.length, hash };
}

/**
 * Installs the functions and triggers after the migrations, in one transaction. Does nothing if a newer version has
 * installed its own: an older version that migrates late, for example during a deploy, must not restore its bodies.
 */
export async function installFunctions(client: ClientBase): Promise<void> {
  const { text, version, hash } = await functionsOfThisVersion();
  const newer = await client.query('select from installed_functions where version > $1', [version]);
  if (newer.rows.length > 0) return;
  // Several statements in one simple query are one transaction.
  await client.query(`${text}
    select make_weeks_v1();
    insert into installed_functions (hash, version) values ('${hash}', ${version})
      on conflict (hash) do update set version = excluded.version`);
}

/** Checks whether the functions of this version, or a newer one, are installed. */
export async function hasFunctions(pool: Pool): Promise<boolean> {
  const { version, hash } = await functionsOfThisVersion();
  const { rows } = await pool.query('select from installed_functions where hash = $1 or version > $2', [
    hash,
    version,
  ]);
  return rows.length > 0;
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase, Pool } from 'pg';
import packageJson from '../../package.json' with { type: 'json' };
import { FUNCTION_SETTINGS, SQL_CONSTANTS } from './limits.ts';
import { readPlace } from './place.ts';

/**
 * The SQL functions that TypeScript calls to process work, to begin rounds and to recall phrases. `FUNCTION_SETTINGS`
 * are attached to each, and apply to the functions that it calls as well.
 */
const ENTRY_FUNCTIONS = [
  'abandoned_v1',
  'admit_v1',
  'are_tokens_used_up_v1',
  'casualties_v1',
  'claim_v1',
  'complete_v1',
  'detach_v1',
  'find_v1',
  'phrases_after_v1',
  'queued_flows_v1',
  'recall_phrases_v1',
  'release_v1',
  'take_over_v1',
  'turn_rounds_v1',
];

/**
 * Reads the SQL functions and triggers of this version. A function whose parameters or results change gets a new name;
 * the old one stays for old processes until a later migration drops it. Other changes apply to old processes too.
 */
async function functionsOfThisVersion(): Promise<{ text: string; version: number[]; hash: string }> {
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
  return { text, version: packageJson.version.split('.').map(Number), hash };
}

/**
 * Installs the functions and triggers after the migrations, in one transaction. Does nothing if a newer version has
 * installed its own: an older version that migrates late, for example during a deploy, must not restore its bodies.
 */
export async function installFunctions(client: ClientBase): Promise<void> {
  const { text, version, hash } = await functionsOfThisVersion();
  const newer = await client.query('select from installed_functions where version > $1', [version]);
  if (newer.rows.length > 0) return;
  const place = await readPlace(client);
  // Several statements in one simple query are one transaction.
  await client.query(`${text}
    select make_weeks_v1();
    insert into installed_functions (hash, version, place)
      values ('${hash}', '{${version}}', ${place === null ? 'null' : `'${place}'`})
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

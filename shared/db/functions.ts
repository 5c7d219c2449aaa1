import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ClientBase, Pool } from 'pg';

const FOLDER = fileURLToPath(new URL('./sql/', import.meta.url));

/**
 * The SQL functions of this version, in their present text, a file each. A function that changes what it takes or gives
 * gets a new version number in its name, so that old processes keep theirs during a deploy; any other change replaces
 * the body in place.
 */
async function functions(): Promise<{ text: string; hash: string }> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, `file://${FOLDER}`), 'utf8')));
  const text = texts.join('\n');
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}

/** Installs them after the migrations, in one transaction. */
export async function installFunctions(client: ClientBase): Promise<void> {
  const { text, hash } = await functions();
  // Several statements in one simple query are one transaction.
  await client.query(`${text}\nselect make_weeks_v1(case when exists (select from predictions) then 5 else 0 end);
    insert into installed_functions (hash) values ('${hash}') on conflict do nothing`);
}

/** Whether the database has had the functions of this version installed, maybe followed by those of a later one. */
export async function hasFunctions(pool: Pool): Promise<boolean> {
  const { hash } = await functions();
  const { rows } = await pool.query('select from installed_functions where hash = $1', [hash]);
  return rows.length > 0;
}

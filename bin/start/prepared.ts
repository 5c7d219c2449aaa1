import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { hasFunctions } from '../../shared/db/functions.ts';
import { missingMigrations } from '../../shared/db/missing-migrations.ts';
import { hashKey } from '../../shared/security/keys.ts';

const FIND_SANDBOX_APP = `
  select from app_keys k join apps a on a.id = k.app_id
   where k.hash = $1 and a.active and k.expires_at is null and $2 = any (a.redirect_uris)`;

/**
 * Checks, without the ORM and BullMQ, which take a second to load, what an earlier start has done in the database.
 * `migratedBy` is a file with the digest of the sources that migrated it, BullMQ's among them.
 */
export async function isMigrated(url: string, migratedBy: string, digest: string): Promise<boolean> {
  if ((await readFile(migratedBy, 'utf8').catch(() => '')) !== digest) return false;
  return withPool(
    url,
    async (pool) => (await missingMigrations(pool)).length === 0 && (await hasFunctions(pool)),
  );
}

/** Returns the key in the file, if it is that of an active app that may redirect to `callback`. */
export async function findSandboxKey(
  url: string,
  file: string,
  callback: string,
): Promise<string | undefined> {
  const key = (await readFile(file, 'utf8').catch(() => '')).trim();
  const apps = await withPool(url, (pool) => pool.query(FIND_SANDBOX_APP, [hashKey(key), callback]));
  return apps.rowCount === 0 ? undefined : key;
}

async function withPool<Result>(url: string, work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'forecue start' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

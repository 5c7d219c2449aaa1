import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));
const UNDEFINED_TABLE = '42P01';

/** Lists the names of our migrations that the database lacks, in order. Unlike the migrator, it only reads. */
export async function missingMigrations(pool: Pool): Promise<string[]> {
  const files = await readdir(MIGRATIONS_FOLDER);
  const names = files.flatMap((file) => file.match(/^(Migration\d+)\.ts$/)?.[1] ?? []);
  const appliedMigrations = await pool
    .query<{ name: string }>('select name from mikro_orm_migrations')
    .catch((error: { code?: string }) => {
      if (error.code === UNDEFINED_TABLE) return { rows: [] };
      throw error;
    });
  const appliedNames = new Set(appliedMigrations.rows.map(({ name }) => name));
  return names.filter((name) => !appliedNames.has(name)).sort();
}

import type { ClientBase, Pool } from 'pg';

/** Number of the server's cluster and of the database in it. */
const READ_PLACE = `
  select system_identifier || '/' || (select oid from pg_database where datname = current_database()) as place
    from pg_control_system()`;

/** Names the database in a way that no copy of it has. Null if the role may not see it. */
export async function readPlace(client: ClientBase | Pool): Promise<string | null> {
  const { rows } = await client.query<{ place: string }>(READ_PLACE).catch(() => ({ rows: [] }));
  return rows[0]?.place ?? null;
}

/** Reports whether the database is a copy of the one in which it was installed: a restored dump, for instance. */
export async function isCopy(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select from installed_functions where place <> $1 limit 1', [
    await readPlace(pool),
  ]);
  return rowCount !== 0;
}

/** Makes a copy a database of its own. */
export async function markPlace(pool: Pool): Promise<void> {
  await pool.query('update installed_functions set place = $1', [await readPlace(pool)]);
}

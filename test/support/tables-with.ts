import type { System } from './system.ts';

/** Returns the tables that contain the text, plain or as bytes, in all schemas unless one is named. */
export async function tablesWith(
  { database: { pool } }: Pick<System, 'database'>,
  text: string,
  schema = '%',
): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name
       from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
        and table_schema like $1`,
    [schema],
  );
  if (tables.length === 0) throw new Error(`no table in ${schema}`);
  const names = await Promise.all(
    tables.map(async ({ name }) => {
      const { rowCount } = await pool.query(
        `select from ${name} t where strpos(t::text, $1) + strpos(t::text, $2) > 0 limit 1`,
        [text, Buffer.from(text).toString('hex')],
      );
      return rowCount === 0 ? [] : [name];
    }),
  );
  return names.flat();
}

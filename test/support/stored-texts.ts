import type { Pool } from 'pg';
import { textsIn } from '../../bench/memory/scoring.ts';

const TABLES_QUERY = `
  select quote_ident(t.table_schema) || '.' || quote_ident(t.table_name) as name,
         (select c.column_name from information_schema.columns c
           where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name in ('account_id', 'party')
           order by c.column_name limit 1) as owner
    from information_schema.tables t
   where t.table_type = 'BASE TABLE' and t.table_schema not in ('pg_catalog', 'information_schema')`;

/** Yields every text in an account's rows, and in tables without an account column; those within JSON separately. */
export async function* storedTexts(pool: Pool, accountId: string): AsyncGenerator<string> {
  const { rows: tables } = await pool.query<{ name: string; owner: string | null }>(TABLES_QUERY);
  for (const { name, owner } of tables) {
    const { rows } =
      owner === null
        ? await pool.query<{ row: unknown }>(`select to_jsonb(t) as row from ${name} t`)
        : await pool.query<{ row: unknown }>(`select to_jsonb(t) as row from ${name} t where ${owner} = $1`, [
            accountId,
          ]);
    for (const { row } of rows) for (const text of textsIn(row)) yield* textsInside(text);
  }
}

function* textsInside(text: string): Generator<string> {
  yield text;
  if (!/^\s*[[{]/.test(text)) return;
  try {
    yield* textsIn(JSON.parse(text));
  } catch {
    // The text only looks like JSON.
  }
}

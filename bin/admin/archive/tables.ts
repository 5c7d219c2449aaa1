import pg from 'pg';
import { isOurTable } from '../../../shared/db/orm.ts';

export interface Table {
  name: string;
  columns: string[];
}

/** Tables that a release's own migration fills. */
const SKIPPED_TABLES = ['mikro_orm_migrations', 'installed_functions'];

/** Excludes unlogged tables, which may lose rows in a crash, and partitions, which are copied with their parent. */
const TABLES_QUERY = `
  select c.relname as name,
         array(select a.attname::text from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                order by a.attnum) as columns,
         array(select distinct r.relname::text from pg_constraint k join pg_class r on r.oid = k.confrelid
                where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as parents
    from pg_class c
   where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and c.relpersistence = 'p' and c.relname <> all ($1)
   order by c.relname`;

/**
 * Orders the tables so that each comes after those that its foreign keys reference. Leaves out tables that others made,
 * such as an extension or the operator: a restore would find no such table, or find rows in it.
 */
export async function ourTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table & { parents: string[] }>(TABLES_QUERY, [SKIPPED_TABLES]);
  const orderedTables: Table[] = [];
  for (let left = rows.filter(({ name }) => isOurTable(name)); left.length > 0; ) {
    const next = left.filter(({ parents }) => !left.some(({ name }) => parents.includes(name)));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    orderedTables.push(...next.map(({ name, columns }) => ({ name, columns })));
    left = left.filter((one) => !next.includes(one));
  }
  return orderedTables;
}

export async function migrationsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from mikro_orm_migrations order by name',
  );
  return rows.map(({ name }) => name);
}

/** Makes the format of values independent of the server's settings, and removes all time limits. */
const SESSION_SETTINGS = `
  set client_encoding = 'UTF8'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 3;
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`;

/** Runs `work` on a new connection, in a transaction that the statement `begin` starts. */
export async function inTransaction<T>(
  url: string,
  begin: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'forecue admin' });
  // Without a listener, a connection error would end the process. The running statement rejects with it anyway.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(SESSION_SETTINGS);
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

export function quoteNames(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(', ');
}

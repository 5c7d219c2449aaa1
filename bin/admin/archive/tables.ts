import pg from 'pg';

/** A table of ours, and the columns that a backup has of it. */
export interface Table {
  name: string;
  columns: string[];
}

/** Written by the migration of every release for itself. */
const NOT_KEPT = ['mikro_orm_migrations', 'installed_functions'];

/** Unlogged tables hold nothing that a crash may not lose. A partition's rows are its parent's. */
const TABLES = `
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

/** Our tables, each after those that its foreign keys lead to. */
export async function ourTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table & { parents: string[] }>(TABLES, [NOT_KEPT]);
  const ordered: Table[] = [];
  for (let left = rows; left.length > 0; ) {
    const next = left.filter(({ parents }) => !left.some(({ name }) => parents.includes(name)));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    ordered.push(...next.map(({ name, columns }) => ({ name, columns })));
    left = left.filter((one) => !next.includes(one));
  }
  return ordered;
}

/** The names of the migrations that the database has, in order. */
export async function migrationsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from mikro_orm_migrations order by name',
  );
  return rows.map(({ name }) => name);
}

/** Settles how values are written, whatever the server's own settings are, and sets no limit on time. */
const SESSION = `
  set client_encoding = 'UTF8'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 3;
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`;

/** Runs `work` in one session and one transaction. */
export async function inTransaction<T>(
  url: string,
  begin: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'forecue admin' });
  // The statement that runs then fails as well.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(SESSION);
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

/** Quoted names, as a list. */
export function listed(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(', ');
}

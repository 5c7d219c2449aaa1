import pg from 'pg';

/** Superuser access to an embedded server. */
export interface PostgresAccess {
  port: number;
  password: string;
}

const STARTING_OR_STOPPING: readonly unknown[] = ['57P01', '57P03', 'ECONNRESET'];
const UNREACHABLE: readonly unknown[] = ['ECONNREFUSED', 'EADDRNOTAVAIL'];

export function addressOf({ port, password }: PostgresAccess, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

export async function query(access: PostgresAccess, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: addressOf(access, 'postgres') });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/** Throws if connecting fails for another reason, such as a wrong password. */
export async function stateOf(
  access: PostgresAccess,
): Promise<'up' | 'starting or stopping' | 'unreachable'> {
  try {
    await query(access, 'select 1');
    return 'up';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (STARTING_OR_STOPPING.includes(code)) return 'starting or stopping';
    if (UNREACHABLE.includes(code)) return 'unreachable';
    throw error;
  }
}

/** The SQLSTATE of a write to a read-only PostgreSQL: a replica, or a demoted primary. */
export const READ_ONLY_SQLSTATE = '25006';

const READ_ONLY_QUERY = `select current_setting('transaction_read_only') as answer`;

class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  override readonly message = 'this PostgreSQL takes no writes: it is a replica, or read-only';
  readonly code = READ_ONLY_SQLSTATE;
}

/**
 * Throws if the server is read-only. Pools check each new connection, because after a failover an address may still
 * lead to the demoted server.
 */
export async function assertTakesWrites(client: {
  query(text: string): Promise<{ rows: { answer?: string }[] }>;
}): Promise<void> {
  const { rows } = await client.query(READ_ONLY_QUERY);
  if (rows[0]?.answer === 'on') throw new ReadOnlyError();
}

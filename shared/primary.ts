/** The SQLSTATE of a write to a PostgreSQL that takes none: a replica, or a primary that was demoted. */
export const READ_ONLY_SQLSTATE = '25006';

const QUESTION = `select current_setting('transaction_read_only') as answer`;

class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  override readonly message = 'this PostgreSQL takes no writes: it is a replica, or read-only';
  readonly code = READ_ONLY_SQLSTATE;
}

/**
 * Rejects unless the server takes writes. Pools ask it of each new connection: after a failover an address may lead to the
 * demoted server for a while, and a pool would keep its connections to that one.
 */
export async function assertTakesWrites(client: {
  query(text: string): Promise<{ rows: { answer?: string }[] }>;
}): Promise<void> {
  const { rows } = await client.query(QUESTION);
  if (rows[0]?.answer === 'on') throw new ReadOnlyError();
}

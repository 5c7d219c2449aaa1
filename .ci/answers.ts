import pg from 'pg';

/** Exits with 0 when a PostgreSQL answers at the address, and with 1 otherwise. */
const client = new pg.Client({ connectionString: process.argv[2] ?? '', connectionTimeoutMillis: 2000 });
try {
  await client.connect();
  await client.end();
} catch {
  process.exitCode = 1;
}

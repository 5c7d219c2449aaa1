import { startPostgres } from '../../bin/start/postgres.ts';

/** Runs a PostgreSQL server in the given directory until this process is killed, and prints the server's address. */
const [directory = ''] = process.argv.slice(2);
const { url } = await startPostgres({ directory, throwaway: true });
process.stdout.write(`${url}\n`);
setInterval(() => undefined, 60_000);

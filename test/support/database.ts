import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../shared/process/migrate.ts';
import { duringSuite } from './during-suite.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** Address for the processes under test: the pooler's, if the run has one. */
  serviceUrl: string;
  pool: pg.Pool;
  drop(): Promise<void>;
}

const SOMEBODY_USES_THE_TEMPLATE = '55006';

/**
 * Creates a database that nobody else uses; migrated unless `empty`, or a copy of another one to which nobody is
 * connected, as a restored dump is.
 */
export async function createDatabase({
  empty = false,
  copyOf,
}: {
  empty?: boolean;
  copyOf?: TestDatabase;
} = {}): Promise<TestDatabase> {
  const {
    FORECUE_TEST_SERVER: server,
    FORECUE_TEST_TEMPLATE: template,
    FORECUE_TEST_POOLER: pooler,
  } = process.env;
  if (!server || !template) throw new Error('run the tests by mocha: test/setup.ts makes the server');
  const name = `forecue_test_${randomBytes(6).toString('hex')}`;
  const source = copyOf === undefined ? template : new URL(copyOf.url).pathname.slice(1);
  await administer(server, `create database ${name} template ${empty ? 'template0' : source}`);
  const url = databaseUrl(server, name);
  const pool = openPool(url, 4);
  const drop = async () => {
    // Does not wait for the pool, which waits for clients that a failed test never released; the drop ends sessions.
    void pool.end();
    await administer(server, `drop database ${name} with (force)`);
  };
  return { url, serviceUrl: databaseUrl(pooler || server, name), pool, drop, [Symbol.asyncDispose]: drop };
}

export function useDatabase(options?: { empty?: boolean }): TestDatabase {
  return duringSuite(() => createDatabase(options));
}

/** Opens a pool on a test's database, which may be dropped before all sessions have ended. */
function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => {});
  // The pool handles errors of idle clients only; an error of another client must not fail a later test.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Migrates an empty database of which the tests use copies. */
export async function makeTemplate(directUrl: string): Promise<void> {
  await migrate({ directUrl, queuePrefix: 'forecue' });
  // Chance decides what people are asked to check, which would fail tests of what is automatic.
  await administer(directUrl, 'alter table accounts alter column check_share set default 0');
  // The copies are no restored databases.
  await administer(directUrl, 'update installed_functions set place = null');
}

/** Runs one statement on the database that the server's address names. Repeats it while the template is in use. */
export async function administer(server: string, statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client({ connectionString: server });
    // An error rejects the query anyway; without a listener, the error would also end the process.
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query(statement);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== SOMEBODY_USES_THE_TEMPLATE || tries === 50) throw error;
      await sleep(20 * Math.random() * tries);
    } finally {
      await client.end();
    }
  }
}

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

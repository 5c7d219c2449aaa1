import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '../../bin/start/postgres.ts';
import { preparePostgresHome, run } from '../../bin/start/postgres-home.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { administer, databaseUrl } from './database.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { scratchFolder } from './scratch.ts';

/** A PostgreSQL server of one test file's own, which it may stop, crash and fill. */
export interface OwnServer {
  /** Of the superuser, for the database `postgres`. */
  url: string;
  /** Breaks every connection; committed data stays. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** At the same address, over the same data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const TEMPLATE = 'forecue_template';

/** The connections that the server takes: enough for an installation and few enough to be filled. */
export const SLOTS = 60;

/** Commits reach the operating system, so that a crash of the server alone loses none. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'timezone=UTC',
  'fsync=off',
  `max_connections=${SLOTS}`,
];

interface OwnServerOptions {
  /** Behind a PgBouncer of its own. */
  pooled?: boolean;
  /** Where it keeps its data; a scratch folder by default. */
  folder?: string;
}

/** Until `close`, the databases of this process's tests are made there. */
export async function startOwnServer({
  pooled = false,
  folder: own,
}: OwnServerOptions = {}): Promise<OwnServer> {
  const directory = own ?? (await scratchFolder('forecue-fault-'));
  const postgres = await startPostgres({ directory, throwaway: true });
  const { folder, account, programs } = await preparePostgresHome(directory);
  const url = databaseUrl(postgres.url, 'postgres');
  const control = async (...args: string[]) => {
    const done = await run(programs.pg_ctl, [...args, '-w', '-D', join(folder, 'data')], account);
    if (!done.ok) throw new Error(done.output);
  };
  const options = [`-p ${new URL(url).port}`, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ');
  await control('restart', '-m', 'fast', '-l', join(folder, 'log'), '-o', options);
  await administer(url, `create database ${TEMPLATE}`);
  await migrate({ directUrl: databaseUrl(url, TEMPLATE), queuePrefix: 'forecue' });
  const pooler = pooled ? await startPgBouncer(url) : undefined;

  const { FORECUE_TEST_SERVER = '', FORECUE_TEST_TEMPLATE = '', FORECUE_TEST_POOLER = '' } = process.env;
  Object.assign(process.env, {
    FORECUE_TEST_SERVER: url,
    FORECUE_TEST_TEMPLATE: TEMPLATE,
    FORECUE_TEST_POOLER: pooler?.url ?? '',
  });
  return {
    url,
    stop: (how) => control('stop', '-m', how),
    start: () => control('start', '-l', join(folder, 'log'), '-o', options),
    async close() {
      Object.assign(process.env, { FORECUE_TEST_SERVER, FORECUE_TEST_TEMPLATE, FORECUE_TEST_POOLER });
      await pooler?.close();
      await postgres.stop();
      for (const path of [folder, directory]) await rm(path, { recursive: true, force: true });
    },
  };
}

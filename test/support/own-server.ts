import { chown, cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '../../bin/start/postgres.ts';
import { preparePostgresHome, run } from '../../bin/start/postgres-home.ts';
import { administer, databaseUrl, makeTemplate } from './database.ts';
import { duringSuite } from './during-suite.ts';
import { freePort } from './free-port.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { scratchFolder } from './scratch.ts';

/** A PostgreSQL server that one test file may stop, crash and fill. */
export interface OwnServer extends AsyncDisposable {
  /** Superuser address of the database `postgres`. */
  url: string;
  stop(how: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** Creates a synchronous replica: every commit waits for it. */
  replicate(): Promise<Replica>;
  /** Starts the stopped server as a read-only replica of `primary`. */
  follow(primary: { url: string }): Promise<void>;
  close(): Promise<void>;
}

export interface Replica {
  url: string;
  /** Makes it accept writes, and commit without waiting for a replica. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

const TEMPLATE = 'forecue_template';

/** Number of connections that the server accepts by default: enough for an installation, and few enough to be exhausted. */
export const SLOTS = 60;

/** Settings without `fsync`: commits still reach the operating system, so a crash of the server alone loses none. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC', 'fsync=off'];

interface OwnServerOptions {
  pooled?: boolean;
  slots?: number;
  folder?: string;
}

/** Starts the server. Until `close`, this process's tests create their databases on it. */
export async function startOwnServer({
  pooled = false,
  slots = SLOTS,
  folder: own,
}: OwnServerOptions = {}): Promise<OwnServer> {
  const directory = own ?? (await scratchFolder('forecue-fault-'));
  const postgres = await startPostgres({ directory, throwaway: true });
  const { folder, account, programs } = await preparePostgresHome(directory);
  const url = databaseUrl(postgres.url, 'postgres');
  const controlOf = async (data: string, ...args: string[]) => {
    const result = await run(programs.pg_ctl, [...args, '-w', '-D', data], account);
    if (!result.ok) throw new Error(result.output);
  };
  const data = join(folder, 'data');
  const control = (...args: string[]) => controlOf(data, ...args);
  const settings = [...SETTINGS, `max_connections=${slots}`];
  const optionsAt = (port: string) => [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const options = optionsAt(new URL(url).port);
  const makeStandby = async (folder: string, primary: string) => {
    const files = {
      'standby.signal': '',
      'postgresql.auto.conf': `primary_conninfo = '${primary}?application_name=replica'\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text);
      if (account !== undefined) await chown(join(folder, name), account.uid, account.gid);
    }
  };
  await control('restart', '-m', 'fast', '-l', join(folder, 'log'), '-o', options);
  await administer(url, `create database ${TEMPLATE}`);
  await makeTemplate(databaseUrl(url, TEMPLATE));
  const pooler = pooled ? await startPgBouncer(url) : undefined;

  const { FORECUE_TEST_SERVER = '', FORECUE_TEST_TEMPLATE = '', FORECUE_TEST_POOLER = '' } = process.env;
  Object.assign(process.env, {
    FORECUE_TEST_SERVER: url,
    FORECUE_TEST_TEMPLATE: TEMPLATE,
    FORECUE_TEST_POOLER: pooler?.url ?? '',
  });
  const close = async () => {
    Object.assign(process.env, { FORECUE_TEST_SERVER, FORECUE_TEST_TEMPLATE, FORECUE_TEST_POOLER });
    await pooler?.close();
    await postgres.stop();
    for (const path of [folder, directory]) await rm(path, { recursive: true, force: true });
  };
  return {
    url,
    close,
    [Symbol.asyncDispose]: close,
    stop: (how) => control('stop', '-m', how),
    start: () => control('start', '-l', join(folder, 'log'), '-o', options),
    async replicate() {
      const copy = join(folder, 'replica');
      const port = `${await freePort()}`;
      await control('stop', '-m', 'fast');
      await cp(data, copy, { recursive: true });
      await run('chown', ['-R', `--reference=${data}`, copy]);
      await makeStandby(copy, url);
      await control(
        'start',
        '-l',
        join(folder, 'log'),
        '-o',
        `${options} -c synchronous_standby_names=replica`,
      );
      await controlOf(copy, 'start', '-l', join(folder, 'replica.log'), '-o', optionsAt(port));
      const replica = new URL(url);
      replica.port = port;
      return {
        url: replica.href,
        promote: () => controlOf(copy, 'promote'),
        close: () => controlOf(copy, 'stop', '-m', 'immediate'),
      };
    },
    async follow(primary) {
      await makeStandby(data, primary.url);
      await control('start', '-l', join(folder, 'log'), '-o', options);
    },
  };
}

export function useOwnServer(options?: OwnServerOptions): OwnServer {
  return duringSuite(() => startOwnServer(options));
}

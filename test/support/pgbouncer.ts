import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describeWhere } from './describe-where.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const PROGRAM = process.env['PGBOUNCER_PATH'] || 'pgbouncer';

export interface Pooler {
  /** Address of the server's database `postgres`; other databases keep their names. */
  url: string;
  close(): Promise<void>;
}

export function describeWithPgBouncer(title: string, suite: (this: Mocha.Suite) => void): void {
  const isThere = spawnSync(PROGRAM, ['--version']).status === 0;
  describeWhere(isThere, title, 'there is no PgBouncer here: PGBOUNCER_PATH', suite);
}

/** Starts PgBouncer in front of all databases of the server; it ends with this process at the latest. */
export async function startPgBouncer(
  server: string,
  mode: 'transaction' | 'session' = 'transaction',
): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const port = await freePort();
  await writeFile(file, configuration(new URL(server), port, mode), { mode: 0o600 });
  const child = spawn(PROGRAM, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-10_000);
  });
  child.on('error', (error) => {
    log += error.message;
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = new URL(server);
  url.host = `127.0.0.1:${port}`;
  try {
    await until(() => doesAnswer(url.href));
  } catch (error) {
    throw new Error(`PgBouncer did not start:\n${log}`, { cause: error });
  }
  return {
    url: url.href,
    async close() {
      process.off('exit', kill);
      if (child.exitCode === null && kill()) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Allows fewer sessions than the processes under test have connections, so that connections share sessions. */
function configuration(
  { hostname, port, username, password }: URL,
  listenPort: number,
  mode: string,
): string {
  const login = { host: hostname, port: port || '5432', user: username, password };
  const target = Object.entries(login)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}='${decodeURIComponent(value).replaceAll("'", "''")}'`);
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? ['user = nobody'] : [];
  return [
    '[databases]',
    `* = ${target.join(' ')}`,
    '[pgbouncer]',
    `pool_mode = ${mode}`,
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'max_client_conn = 2000',
    'default_pool_size = 10',
    'server_idle_timeout = 10',
    'server_login_retry = 1',
    'query_wait_timeout = 2',
    ...account,
    '',
  ].join('\n');
}

async function doesAnswer(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

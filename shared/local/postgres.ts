import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresHome, preparePostgresHome } from './postgres-home.ts';
import { programOptions, run } from './run.ts';

export interface Postgres {
  /** Of the superuser, for the database `forecue`. */
  url: string;
  stop(): Promise<void>;
}

const DATABASE = 'forecue';
const START_TIMEOUT_MS = 60_000;
/** How long a server that is said to run may be unreachable before its postmaster.pid counts as stale. */
const SILENCE_MS = 3000;

const STARTING_OR_STOPPING: readonly unknown[] = ['57P01', '57P03', 'ECONNRESET'];
const UNREACHABLE: readonly unknown[] = ['ECONNREFUSED', 'EADDRNOTAVAIL'];

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC'];
/** For data that nobody will miss: several times faster, and room for many test files at once. */
const THROWAWAY_SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=300',
];

/**
 * Starts the PostgreSQL that npm installed, with its data, password and log in `directory`. A server that
 * already runs on these data is taken over. It ends with `stop`, or else with this process, however that ends.
 * One process at a time may own a directory.
 */
export async function startPostgres(options: { directory: string; throwaway?: boolean }): Promise<Postgres> {
  const throwaway = options.throwaway ?? false;
  const home = await preparePostgresHome(resolve(options.directory));
  const password = await initialise(home, throwaway);
  const guardian = startGuardian(home);
  try {
    const port = await startServer(home, password, throwaway);
    await createDatabase(port, password);
    return { url: addressOf(port, password, DATABASE), stop: () => stopServer(home, guardian) };
  } catch (error) {
    guardian.end();
    throw error;
  }
}

/** The pipe on which the guardian waits for our word. */
type Guardian = Writable;

const dataOf = (home: PostgresHome) => join(home.folder, 'data');

function addressOf(port: number, password: string, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** Makes the data once, under another name until they are complete, and returns the password. */
async function initialise(home: PostgresHome, throwaway: boolean): Promise<string> {
  const { folder, account, programs } = home;
  const passwordFile = join(folder, 'password');
  const initialised = await readFile(join(dataOf(home), 'PG_VERSION')).catch(() => undefined);
  if (initialised !== undefined) return readFile(passwordFile, 'utf8');

  const password = randomBytes(24).toString('base64url');
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);

  const unfinished = `${dataOf(home)}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  const args = ['-D', unfinished, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  if (throwaway) args.push('--no-sync');
  const initdb = await run(programs.initdb, args, account);
  if (!initdb.ok) throw new Error(`PostgreSQL could not make its data: ${initdb.output}`);
  await rename(unfinished, dataOf(home));
  return password;
}

/** Returns the port of the server, which may first have to finish a recovery or a shutdown. */
async function startServer(home: PostgresHome, password: string, throwaway: boolean): Promise<number> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let answeredAt = Date.now();
  while (Date.now() < deadline) {
    const port = await runningPort(home);
    if (port === undefined) {
      await launch(home, throwaway);
      continue;
    }
    const fault = await connectionFault(port, password);
    if (fault === undefined) return port;
    if (STARTING_OR_STOPPING.includes(fault.code)) answeredAt = Date.now();
    else if (!UNREACHABLE.includes(fault.code)) throw fault;
    // After a crash, above all in a container, another process may have got the id in postmaster.pid, and
    // PostgreSQL would wait for it for ever. It still refuses a second server on data that are in use.
    if (Date.now() - answeredAt > SILENCE_MS) await rm(join(dataOf(home), 'postmaster.pid'), { force: true });
    await sleep(50);
  }
  throw new Error(`PostgreSQL did not start in time: see ${join(home.folder, 'log')}`);
}

/** The fourth line of postmaster.pid; 0, where nothing answers, while a starting server has yet to write it. */
async function runningPort(home: PostgresHome): Promise<number | undefined> {
  const status = await run(home.programs.pg_ctl, ['status', '-D', dataOf(home)], home.account);
  const lines = await readFile(join(dataOf(home), 'postmaster.pid'), 'utf8').catch(() => undefined);
  // A crash of the machine can leave the file empty, for which pg_ctl has no answer.
  if (lines === undefined || (!status.ok && lines !== '')) return undefined;
  return Number(lines.split('\n')[3] ?? 0);
}

async function launch(home: PostgresHome, throwaway: boolean): Promise<void> {
  const settings = throwaway ? [...SETTINGS, ...THROWAWAY_SETTINGS] : SETTINGS;
  const log = join(home.folder, 'log');
  await rm(log, { force: true });
  const options = [`-p ${await freePort()}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const args = ['start', '-w', '-D', dataOf(home), '-l', log, '-o', options];
  const start = await run(home.programs.pg_ctl, args, home.account);
  if (start.ok) return;
  const lines = await readFile(log, 'utf8').catch(() => '');
  // Another process took the port in between: the caller tries again with another one.
  if (lines.includes('could not create any TCP/IP sockets')) return;
  throw new Error(`PostgreSQL did not start: ${start.output}\n${lines.trim()}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function connectionFault(port: number, password: string): Promise<{ code?: string } | undefined> {
  return query(port, password, 'select 1').then(
    () => undefined,
    (error) => error,
  );
}

async function createDatabase(port: number, password: string): Promise<void> {
  const found = await query(port, password, `select 1 from pg_database where datname = '${DATABASE}'`);
  if (found.rowCount === 0) await query(port, password, `create database ${DATABASE}`);
}

async function query(port: number, password: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: addressOf(port, password, 'postgres') });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/**
 * Waits at the far end of a pipe, and stops the server when the pipe closes without a word: we were killed.
 * Windows has no such shell: there the server outlives a killed process, and the next start takes it over.
 */
function startGuardian(home: PostgresHome): Guardian {
  const script = 'read -r _ || exec "$0" stop -m fast -D "$1"';
  const guardian = spawn('/bin/sh', ['-c', script, home.programs.pg_ctl, dataOf(home)], {
    ...programOptions(home.account),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  guardian.unref();
  return guardian.stdin;
}

async function stopServer(home: PostgresHome, guardian: Guardian): Promise<void> {
  if ((await runningPort(home)) !== undefined) {
    const args = ['stop', '-m', 'fast', '-w', '-t', '60', '-D', dataOf(home)];
    const stop = await run(home.programs.pg_ctl, args, home.account);
    if (!stop.ok && (await runningPort(home)) !== undefined)
      throw new Error(`PostgreSQL did not stop: ${stop.output}`);
  }
  guardian.end('stopped\n');
}

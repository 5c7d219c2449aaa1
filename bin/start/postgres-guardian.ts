import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { PostgresHome } from './postgres-home.ts';
import { programOptions } from './run.ts';

/** Each line is the process id of the running server, or empty when none runs. */
const SCRIPT = `
while read -r line; do server=$line; done
[ "$server" = stopped ] || kill -INT "$server" || exec "$0" stop -m fast -D "$1"`;

/**
 * Stops the server when this process is killed: a shell that reads from a pipe, and acts when that closes without
 * `stopped`. Windows has no such shell: there the server outlives a killed process, and the next start stops it.
 */
export class Guardian {
  readonly #pipe: Writable;

  constructor({ programs, data, account }: PostgresHome) {
    const shell = spawn('/bin/sh', ['-c', SCRIPT, programs.pg_ctl, data], {
      ...programOptions(account),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shell.on('error', () => undefined);
    shell.stdin.on('error', () => undefined);
    shell.unref();
    this.#pipe = shell.stdin;
  }

  /** Sets the server to stop; undefined when it has ended. */
  watch(pid: number | undefined): void {
    this.#pipe.write(`${pid ?? ''}\n`);
  }

  dismiss(): void {
    this.#pipe.end('stopped\n');
  }
}

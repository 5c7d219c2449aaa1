import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { PostgresHome } from './postgres-home.ts';
import { programOptions } from './run.ts';

/** Each line is the id of the server that runs now, or empty when none does. */
const SCRIPT = `
while read -r line; do server=$line; done
[ "$server" = stopped ] || kill -INT "$server" || exec "$0" stop -m fast -D "$1"`;

/**
 * Waits at the far end of a pipe, and stops the server when the pipe closes without a word: we were killed.
 * Windows has no such shell: there the server outlives a killed process, and the next start stops it.
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

  /** The server that is to be stopped from now on; undefined when it has ended. */
  watch(pid: number | undefined): void {
    this.#pipe.write(`${pid ?? ''}\n`);
  }

  dismiss(): void {
    this.#pipe.end('stopped\n');
  }
}

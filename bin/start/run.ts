import { spawn } from 'node:child_process';

/** The operating system's account that a program runs as. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * Runs a program to its end. Never rejects: a program that cannot be started counts as failed. It has its own session,
 * so that Ctrl-C on the terminal does not reach it, and none of this process's environment, which holds secrets.
 */
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

/** A working directory that every account may enter, a bare environment, and messages in English. */
export function programOptions(account: Account | undefined) {
  const { PATH, SystemRoot } = process.env;
  return { cwd: '/', env: { PATH, SystemRoot, LC_ALL: 'C' }, uid: account?.uid, gid: account?.gid };
}

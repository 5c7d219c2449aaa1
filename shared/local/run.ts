import { spawn } from 'node:child_process';

/** The account that a program runs as; absent when it is our own. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * Runs a program to its end and never rejects: a program that cannot be started is one that failed. It has a
 * session of its own, so that Ctrl-C on the terminal reaches us alone, and it sees none of our secrets.
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

/** The folder is one that every account may be in, the messages are in English, the environment is bare. */
export function programOptions(account: Account | undefined) {
  const { PATH, SystemRoot } = process.env;
  return { cwd: '/', env: { PATH, SystemRoot, LC_ALL: 'C' }, uid: account?.uid, gid: account?.gid };
}

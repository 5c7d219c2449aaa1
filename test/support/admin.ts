import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './environment.ts';

const MAIN = fileURLToPath(new URL('../../bin/admin/main.ts', import.meta.url));

/** Runs the real command line, in an environment of the given variables only. */
export function runAdmin(args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...bareEnvironment(), ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** The result of a command that succeeds. */
export async function adminResult(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await runAdmin([...args, '--json'], env);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse(stdout);
}

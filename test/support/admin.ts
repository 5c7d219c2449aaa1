import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AdminReply, AdminRequest } from './admin-host.ts';
import { bareEnvironment } from './environment.ts';

/** Processes that have already loaded the command line. */
const idle: ChildProcess[] = [];

/** Runs the real command line with only these environment variables and those of `bareEnvironment`. */
export async function runAdmin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<AdminReply> {
  const host = idle.pop() ?? startHost();
  host.send({ args, env: { ...bareEnvironment(), ...env }, input } satisfies AdminRequest);
  const over = new AbortController();
  const { signal } = over;
  const died = once(host, 'exit', { signal }).then(() => Promise.reject(new Error('the command line died')));
  try {
    const [reply] = await Promise.race([once(host, 'message', { signal }) as Promise<[AdminReply]>, died]);
    idle.push(host);
    return reply;
  } finally {
    over.abort();
  }
}

/** Returns the JSON result of a command that must succeed. */
export async function adminResult(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
) {
  const { code, stdout, stderr } = await runAdmin([...args, '--json'], env, input);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse(stdout);
}

function startHost(): ChildProcess {
  const path = fileURLToPath(new URL('admin-host.ts', import.meta.url));
  // Hashes passwords as the hosted ingresses do.
  const execArgv = ['--import', new URL('quick-hash.ts', import.meta.url).href];
  const host = fork(path, { env: bareEnvironment(), execArgv });
  host.unref();
  host.channel?.unref();
  return host;
}

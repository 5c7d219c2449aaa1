import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadyMessage } from '../shared/process/lifecycle.ts';
import { STOP_LIMITS } from '../shared/stop-limits.ts';

const CHECKOUT = join(import.meta.dirname, '..');
/** Folder for logs, profiles, and the results of partial runs. */
export const SCRATCH = join(CHECKOUT, '.data/bench');
export const PROFILES = join(SCRATCH, 'profiles');

export interface ChildOptions {
  args?: string[];
  env?: Record<string, string>;
  profile?: boolean;
}

export interface Child {
  url: string;
  process: ChildProcess;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a file of the checkout as a process, which ends with this one, even if this one is killed. */
export async function startChild(name: string, file: string, options: ChildOptions = {}): Promise<Child> {
  await mkdir(join(SCRATCH, 'log'), { recursive: true });
  const path = join(SCRATCH, 'log', `${name}.log`);
  // Logs to a file, as in production: reading a pipe would load the measured cores.
  await using log = await open(path, 'w');
  const child = fork(join(CHECKOUT, file), options.args ?? [], {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...options.env },
    execArgv: options.profile
      ? ['--cpu-prof', `--cpu-prof-dir=${PROFILES}`, `--cpu-prof-name=${name}.cpuprofile`]
      : [],
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const exited = once(child, 'exit');
  const [ready] = (await Promise.race([
    once(child, 'message'),
    exited.then(() => Promise.reject(new Error(`${name} died at its start: see ${path}`))),
  ])) as [ReadyMessage];
  return {
    url: ready.url ?? '',
    process: child,
    async [Symbol.asyncDispose]() {
      const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMITS.supervisor);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(killTimer);
    },
  };
}

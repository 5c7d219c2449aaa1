import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadyMessage } from '../shared/process/lifecycle.ts';
import { STOP_LIMITS } from '../shared/process/stop-limits.ts';

const CHECKOUT = join(import.meta.dirname, '..');
/** Logs, profiles, and the results of partial runs. */
export const SCRATCH = join(CHECKOUT, '.data/bench');
export const PROFILES = join(SCRATCH, 'profiles');

export interface ChildOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Writes a CPU profile of its whole life when it stops. */
  profile?: boolean;
}

/** A process of the bench that is up. */
export interface Child {
  url: string;
  process: ChildProcess;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a file of the checkout and resolves when it is ready. It ends with this process, however that ends. */
export async function startChild(name: string, file: string, options: ChildOptions = {}): Promise<Child> {
  await mkdir(join(SCRATCH, 'log'), { recursive: true });
  const path = join(SCRATCH, 'log', `${name}.log`);
  // A file, as in production: reading a pipe would load the measured cores.
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
      const hard = setTimeout(() => child.kill('SIGKILL'), STOP_LIMITS.supervisor);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(hard);
    },
  };
}

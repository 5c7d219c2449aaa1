import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bareEnvironment } from './environment.ts';
import { TestProcess } from './system.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const ENTRIES = { web: ['ingress/main.ts'], worker: ['workers/main.ts', 'predict'] };

type Environment = Record<string, string>;

/** One version of the product, as files that can be run. */
export interface Version {
  start(kind: keyof typeof ENTRIES, env: Environment): Promise<TestProcess>;
  /** Brings the database of `DATABASE_URL` up to this version. */
  migrate(env: Environment): Promise<void>;
  /** The output of an operator's command. */
  admin(args: string[], env: Environment): Promise<string>;
  remove(): Promise<void>;
}

/** The files of a commit, in a folder of their own, with the packages of that commit. */
export async function versionOf(commit: string): Promise<Version> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-version-'));
  const archive = spawn('git', ['-C', CHECKOUT, 'archive', commit], { stdio: ['ignore', 'pipe', 'inherit'] });
  const unpack = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'inherit', 'inherit'] });
  archive.stdout.pipe(unpack.stdin);
  await Promise.all([archive, unpack].map(succeeds));
  const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  await succeeds(spawn('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }));
  return { ...versionAt(folder), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The files of this checkout as they are. */
export function thisVersion(): Version {
  return { ...versionAt(CHECKOUT), remove: async () => {} };
}

function versionAt(folder: string): Omit<Version, 'remove'> {
  const run = async (file: string, args: string[], env: Environment) => {
    const child = spawn(process.execPath, [join(folder, file), ...args], {
      env: { ...bareEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await Promise.all([text(child.stdout), succeeds(child)]);
    return output;
  };
  return {
    start(kind, env) {
      const [entry = '', ...args] = ENTRIES[kind];
      const options = { env: { ...bareEnvironment(), ...env }, cwd: folder, silent: true };
      return new TestProcess(fork(join(folder, entry), args, options)).ready();
    },
    async migrate(env) {
      await run('bin/migrate.ts', [], env);
    },
    admin: (args, env) => run('bin/admin/main.ts', args, env),
  };
}

async function succeeds(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`);
}

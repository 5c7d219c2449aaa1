import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Environment without npm's variables: under `npm test`, they would make npm install into this project. */
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
const ROOT = join(import.meta.dirname, '../..');

/** A user's project, with the client's package installed as it would be published. */
export interface PackedClient {
  folder: string;
  files: string[];
  /** Runs a module of the project, on Node by default. Resolves with its output; rejects with its error. */
  run(source: string, options: { env: Record<string, string>; command?: readonly string[] }): Promise<string>;
  remove(): Promise<void>;
}

/** Builds, packs and installs the client from a copy, because other test files do so at the same time. */
export async function installClient(): Promise<PackedClient> {
  const [base, folder] = await Promise.all([makeTemporaryFolder(), makeTemporaryFolder()]);
  await cp(join(ROOT, 'client'), join(base, 'client'), { recursive: true });
  await cp(join(ROOT, 'tsconfig.json'), join(base, 'tsconfig.json'));
  for (const folder of ['node_modules', 'shared']) await symlink(join(ROOT, folder), join(base, folder));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(base, 'client'),
    env: ENV,
  });
  // The output of the build comes before the JSON.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as {
    filename: string;
    files: { path: string }[];
  }[];
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await rm(base, { recursive: true });
  const tarball = join(folder, packed?.filename ?? '');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    env: ENV,
  });
  return {
    folder,
    files: packed?.files.map(({ path }) => path) ?? [],
    async run(source, { env, command: [program = process.execPath, ...args] = [] }) {
      await writeFile(join(folder, 'main.js'), source);
      const { PATH = '' } = process.env;
      const { stdout } = await run(program, [...args, 'main.js'], {
        cwd: folder,
        env: { PATH, ...env },
        timeout: 60_000,
      });
      return stdout;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

function makeTemporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'forecue-client-'));
}

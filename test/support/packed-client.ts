import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packInto } from '../../bin/client/pack.ts';

const run = promisify(execFile);
/** Environment without npm's variables: under `npm test`, they would make npm install into this project. */
export const PLAIN_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
);

/** A user's project, with the client's package installed as it would be published. */
export interface PackedClient {
  folder: string;
  files: string[];
  /** Runs a module of the project, on Node by default. Resolves with its output; rejects with its error. */
  run(source: string, options: { env: Record<string, string>; command?: readonly string[] }): Promise<string>;
  remove(): Promise<void>;
}

export async function installClient(): Promise<PackedClient> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-client-'));
  const { filename, files } = await packInto(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)], {
    cwd: folder,
    env: PLAIN_ENV,
  });
  return {
    folder,
    files: files.map(({ path }) => path),
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

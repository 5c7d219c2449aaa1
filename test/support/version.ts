import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import packageJson from '../../package.json' with { type: 'json' };
import { bareEnvironment } from './environment.ts';
import { TestProcess } from './system.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const ENTRIES = { web: ['ingress/main.ts'], worker: ['workers/main.ts', 'predict'] };

type Environment = Record<string, string>;

export interface Version {
  launch(kind: keyof typeof ENTRIES, env: Environment): TestProcess;
  migrate(env: Environment): Promise<void>;
  admin(args: string[], env: Environment): Promise<string>;
  remove(): Promise<void>;
}

export interface Release {
  /** Statements of the migration, which is the latest one. */
  up: string[];
  functions: string;
}

export async function versionWithReleases(releases: readonly Release[]): Promise<Version> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-version-'));
  await Promise.all(
    RUNTIME_PATHS.map((name) => cp(join(CHECKOUT, name), join(folder, name), { recursive: true })),
  );
  await symlink(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  for (const [n, { up }] of releases.entries()) {
    const name = `Migration2099010100000${n}`;
    const statements = up.map((sql) => `this.addSql(${JSON.stringify(sql)});`).join('\n');
    await writeFile(
      join(folder, 'migrations', `${name}.ts`),
      `import { Migration } from '@mikro-orm/migrations';
      export class ${name} extends Migration { override name = '${name}'; override up(): void { ${statements} } }`,
    );
  }
  // Only the latest release's functions are installed.
  await writeFile(join(folder, 'shared/db/sql/zz-release.sql'), releases.at(-1)?.functions ?? '');
  const version = `1000.0.${releases.length}`;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...packageJson, version }));
  return temporaryVersion(folder);
}

const RUNTIME_PATHS = ['package.json', 'bin', 'client', 'docs', 'ingress', 'migrations', 'shared', 'workers'];

function temporaryVersion(folder: string): Version {
  return { ...versionAt(folder), remove: () => rm(folder, { recursive: true, force: true }) };
}

export function thisVersion(): Version {
  return { ...versionAt(CHECKOUT), remove: async () => {} };
}

function versionAt(folder: string): Omit<Version, 'remove'> {
  const run = async (file: string, args: string[], env: Environment) => {
    const child = spawn(process.execPath, [join(folder, file), ...args], {
      env: { ...bareEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (code !== 0) throw new Error(`${file} ended with ${code}: ${errors}`);
    return output;
  };
  return {
    launch(kind, env) {
      const [entry = '', ...args] = ENTRIES[kind];
      const options = { env: { ...bareEnvironment(), ...env }, cwd: folder, silent: true };
      return new TestProcess(fork(join(folder, entry), args, options));
    },
    async migrate(env) {
      await run('bin/migrate.ts', [], env);
    },
    admin: (args, env) => run('bin/admin/main.ts', args, env),
  };
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, digestOf, MADE } from '../digest.ts';
import { packExtension } from './extension.ts';

/** Where the ingress looks for the package that it publishes. */
const PUBLISHED = join(CHECKOUT, 'client/packed');
/** Holds the digest of the sources that the package was made from, and the package's name. */
const MADE_FROM = join(MADE, 'client');
/** Environment without npm's variables: under `npm start`, they would make npm work on this project. */
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/** Report of `npm pack --json` on a package. */
interface Packed {
  filename: string;
  files: { path: string }[];
}

/**
 * Packs the client and the browser extension for the ingress to publish, in place of other versions, unless the same are
 * there. Returns the name of the client's file.
 */
export async function packClient(): Promise<string> {
  const digest = digestOf('client', 'shared');
  const [before, packed = ''] = (await readFile(MADE_FROM, 'utf8').catch(() => '')).split(' ');
  if (before === digest && existsSync(join(PUBLISHED, packed))) return packed;
  const output = `${PUBLISHED}.${process.pid}`;
  await mkdir(output);
  const { filename } = await packInto(output);
  const names = [filename, await packExtension(output)];
  await mkdir(PUBLISHED, { recursive: true });
  for (const name of names) await rename(join(output, name), join(PUBLISHED, name));
  await rm(output, { recursive: true });
  for (const name of await readdir(PUBLISHED)) if (!names.includes(name)) await rm(join(PUBLISHED, name));
  await mkdir(MADE, { recursive: true });
  await writeFile(MADE_FROM, `${digest} ${filename}`);
  return filename;
}

/** Builds and packs a copy of the client, because other processes may do the same at this time. */
export async function packInto(destination: string): Promise<Packed> {
  const base = await mkdtemp(join(tmpdir(), 'forecue-pack-'));
  try {
    const skipped = ['console', 'dist', 'extension', 'packed'].map((name) => join(CHECKOUT, 'client', name));
    const filter = (path: string) => !skipped.includes(path);
    await cp(join(CHECKOUT, 'client'), join(base, 'client'), { recursive: true, filter });
    await cp(join(CHECKOUT, 'tsconfig.json'), join(base, 'tsconfig.json'));
    for (const folder of ['node_modules', 'shared'])
      await symlink(join(CHECKOUT, folder), join(base, folder));
    const { stdout } = await promisify(execFile)(
      'npm',
      ['pack', '--json', '--pack-destination', destination],
      { cwd: join(base, 'client'), env: ENV },
    );
    // The output of the build comes before the JSON.
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as Packed[];
    if (packed === undefined) throw new Error('npm packed nothing');
    return packed;
  } finally {
    await rm(base, { recursive: true });
  }
}

if (import.meta.main) await packClient();

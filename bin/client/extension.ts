import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { zip } from './zip.ts';

const CLIENT = resolve(import.meta.dirname, '../../client');
const SOURCE = join(CLIENT, 'extension');
/** Files that are taken as they are. */
const PLAIN_FILES = ['_locales', 'icons', 'popup.html', 'options.html', 'pages.css'];
const SCRIPTS = ['worker', 'popup', 'options'];

/** Where people who have the sources load it from. */
const UNPACKED = join(SOURCE, 'dist');

/** Packs the browser extension into a folder. Returns the file's name. */
export async function packExtension(folder: string): Promise<string> {
  const unpacked = await mkdtemp(join(tmpdir(), 'forecue-extension-'));
  try {
    const name = `forecue-extension-${await buildExtension(unpacked)}.zip`;
    await writeFile(join(folder, name), await zip(unpacked));
    return name;
  } finally {
    await rm(unpacked, { recursive: true });
  }
}

/** Builds the browser extension, unpacked, into a folder. Returns its version. */
export async function buildExtension(folder: string): Promise<string> {
  const { build, stop } = await import('esbuild');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const options = {
    outdir: folder,
    bundle: true,
    minify: true,
    // A browser reads files of content scripts as UTF-8 only if they have nothing else in them.
    charset: 'ascii',
    target: 'chrome123',
    legalComments: 'none',
    logLevel: 'warning',
  } as const;
  const pathOf = (name: string) => join(SOURCE, `${name}.ts`);
  await Promise.all([
    build({ ...options, entryPoints: SCRIPTS.map(pathOf), format: 'esm' }),
    build({ ...options, entryPoints: [pathOf('content')], format: 'iife' }),
    ...PLAIN_FILES.map((name) => cp(join(SOURCE, name), join(folder, name), { recursive: true })),
  ]);
  await stop();
  const [manifest, { version }] = await Promise.all([
    readJson(join(SOURCE, 'manifest.json')),
    readJson(join(CLIENT, 'package.json')),
  ]);
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, version }, null, 2));
  return String(version);
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path, 'utf8'));
}

if (import.meta.main) await buildExtension(UNPACKED);

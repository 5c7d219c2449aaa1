import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { digestOf, MADE } from '../digest.ts';

const SOURCE = join(import.meta.dirname, '../../client/console');
/** Names the parts that the first page needs, so that a browser need not find them in the script. */
const PRELOADED = 'preloaded.json';

/** Returns false after `npm ci --omit=dev`, which leaves out the packages that build. */
export function canBuild(): boolean {
  try {
    import.meta.resolve('esbuild');
    import.meta.resolve('preact');
    return true;
  } catch {
    return false;
  }
}

/** Builds in another folder, then renames the files into `dist`, so that the ingress never serves half a file. */
export async function buildConsole(): Promise<void> {
  const { build, stop } = await import('esbuild');
  const output = join(SOURCE, `dist.${process.pid}`);
  const { metafile } = await build({
    entryPoints: ['main.tsx', 'console.css'].map((file) => ({ in: join(SOURCE, file), out: 'app' })),
    outdir: output,
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: true,
    chunkNames: 'part-[hash]',
    target: ['es2023', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    // The importer's code runs in the browser, with replacements for the parts of Node that it uses.
    alias: { 'node:crypto': join(SOURCE, 'import/node-crypto.ts') },
    inject: [join(SOURCE, 'import/node-buffer.ts')],
    logLevel: 'warning',
    metafile: true,
  });
  // Its own process would stay, with 30 MB, as long as this one.
  await stop();
  await writeFile(join(output, PRELOADED), JSON.stringify(staticPartsOf(metafile)));
  const dist = join(SOURCE, 'dist');
  await mkdir(dist, { recursive: true });
  const files = await readdir(output);
  // The parts come before the script that loads them; parts of earlier builds go last.
  for (const file of files.toSorted().toReversed()) await rename(join(output, file), join(dist, file));
  for (const file of await readdir(dist)) if (!files.includes(file)) await rm(join(dist, file));
  await rm(output, { recursive: true });
}

/** Returns the names of the files that `app.js` imports statically, directly or by another one. */
function staticPartsOf({ outputs }: Metafile): string[] {
  const found = Object.keys(outputs).filter((path) => basename(path) === 'app.js');
  for (const path of found)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !found.includes(imported)) found.push(imported);
  return found.slice(1).map((path) => basename(path));
}

/** Builds unless the latest such build was of the same sources. */
export async function buildChangedConsole(): Promise<void> {
  const builtFrom = join(MADE, 'console');
  const digest = digestOf('bin/console', 'client', 'shared');
  const before = await readFile(builtFrom, 'utf8').catch(() => '');
  if (before === digest && existsSync(join(SOURCE, 'dist'))) return;
  await buildConsole();
  await mkdir(MADE, { recursive: true });
  await writeFile(builtFrom, digest);
}

if (import.meta.main) await buildConsole();

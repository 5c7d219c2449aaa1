import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, '../../client/console');

/** Returns false after `npm ci --omit=dev`, which leaves out the packages that build the console. */
export function canBuildConsole(): boolean {
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
  const { build } = await import('esbuild');
  const output = join(SOURCE, `dist.${process.pid}`);
  await build({
    entryPoints: ['main.tsx', 'console.css'].map((file) => ({ in: join(SOURCE, file), out: 'app' })),
    outdir: output,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2023', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    // The importer's code runs in the browser, with replacements for the parts of Node that it uses.
    alias: { 'node:crypto': join(SOURCE, 'import/node-crypto.ts') },
    inject: [join(SOURCE, 'import/node-buffer.ts')],
    logLevel: 'warning',
  });
  const dist = join(SOURCE, 'dist');
  await mkdir(dist, { recursive: true });
  for (const file of ['app.js', 'app.css']) await rename(join(output, file), join(dist, file));
  await rm(output, { recursive: true });
}

if (import.meta.main) await buildConsole();

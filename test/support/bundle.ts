import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles TypeScript source for a browser. The source's imports start at the project's root. */
export async function bundleForBrowser(source: string, options: { minify?: boolean } = {}): Promise<string> {
  const resolveDir = fileURLToPath(new URL('../..', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir, loader: 'tsx' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: options.minify ?? false,
  });
  return outputFiles[0]?.text ?? '';
}

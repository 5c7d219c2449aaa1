import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
/** Folder in which the editors are installed, as `.ci/get-tools` does: too large for everybody's `npm ci`. */
export const EDITORS = process.env['EDITORS'] ?? '';

/**
 * Bundles a page with editors of `EDITORS` and the adapters of the client's source. `component` is what
 * `component.svelte` contains.
 */
export async function bundleEditor(
  contents: string,
  component = '',
): Promise<{ script: string; style: string }> {
  const packages = join(EDITORS, 'node_modules');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: EDITORS },
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"', __VUE_PROD_DEVTOOLS__: 'false' },
    loader: { '.ttf': 'dataurl' },
    conditions: ['svelte', 'browser', 'production'],
    logLevel: 'error',
    plugins: [
      {
        name: 'forecue',
        setup(given) {
          given.onResolve({ filter: /^forecue\// }, ({ path }) => ({
            path: join(ROOT, 'client/src', `${path.slice('forecue/'.length)}.ts`),
          }));
          // The adapter and the editor have to share it.
          given.onResolve({ filter: /^prosemirror-state$/ }, () => ({
            path: join(packages, 'prosemirror-state/dist/index.js'),
          }));
          given.onResolve({ filter: /\.svelte$/ }, ({ path }) => ({ path, namespace: 'component' }));
          given.onLoad({ filter: /.*/, namespace: 'component' }, async () => {
            const { compile } = await import(join(packages, 'svelte/src/compiler/index.js'));
            const { js } = compile(component, { generate: 'client' });
            return { contents: js.code, resolveDir: EDITORS };
          });
        },
      },
    ],
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { script: textOf('.js'), style: textOf('.css') };
}

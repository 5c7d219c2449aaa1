import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** Short forms of path prefixes that documents may use, and the full prefixes. */
const SHORT_PREFIXES: Record<string, string> = {
  'sql/': 'shared/db/sql/',
  'stores/': 'shared/db/stores/',
};
const SUITES = readdirSync('test', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

for (const document of DOCUMENTS)
  it(`${document} names only files and headings that exist`, () => {
    const text = readFileSync(document, 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\/[\w./-]*)`/g)].map(([, name = '']) => pathOf(name));
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([, link = '', heading]) => ({ file: link === '' ? document : join(dirname(document), link), heading }),
    );
    const files = [...named, ...linked.map(({ file }) => file)];
    assert.deepEqual(
      files.filter((file) => file !== undefined && !existsSync(file)),
      [],
    );
    assert.deepEqual(
      linked.filter(({ file, heading }) => heading !== undefined && !headingsOf(file).includes(heading)),
      [],
    );
  });

it('nothing tells a person to fetch the client by its name from npm, where it belongs to nobody', () => {
  const files = globSync(['*.md', 'docs/*.md', '{bin,client,deploy,ingress}/**/*.{ts,tsx,md,html,js,json}'], {
    exclude: ['**/node_modules', 'client/dist', 'client/extension/dist', 'client/packed'],
  });
  const byName = /\bnpx (-\S+ )*forecue\b|\bnpm (i|install|add|exec) (-\S+ )*forecue(?![\w./-])/;
  assert.ok(files.length > 100);
  assert.deepEqual(
    files.filter((file) => byName.test(readFileSync(file, 'utf8'))),
    [],
  );
});

/** Returns the anchors that GitHub makes of a document's headings. */
function headingsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the path of a file or folder that a document names; undefined if the name is neither. */
function pathOf(name: string): string | undefined {
  if (existsSync(name)) return name;
  const short = Object.keys(SHORT_PREFIXES).find((prefix) => name.startsWith(prefix));
  if (short !== undefined) return SHORT_PREFIXES[short] + name.slice(short.length);
  if (/\.\w+$/.test(name) || /^(bin|ingress|shared|workers|test)\/.*\/$/.test(name)) return name;
  const [suite = ''] = name.split('/');
  if (!SUITES.includes(suite) || suite === name) return undefined;
  return `test/${name}.test.ts`;
}

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DOCUMENTS = [
  'README.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** What the documents shorten. */
const SHORT: Record<string, string> = {
  'sql/': 'shared/db/sql/',
  'stores/': 'shared/db/stores/',
  'acceptance/': 'test/acceptance/',
};
const SUITES = readdirSync('test', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('the documents', () => {
  for (const document of DOCUMENTS)
    it(`name only files that exist: ${document}`, () => {
      const named = [
        ...readFileSync(document, 'utf8').matchAll(/`([\w./-]+\/[\w./-]*)`|\]\(([\w./-]+\.md)/g),
      ];
      const files = named.map(([, code, link]) =>
        link === undefined ? pathOf(code ?? '') : join(dirname(document), link),
      );
      assert.ok(files.length > 0);
      assert.deepEqual(
        files.filter((file) => file !== undefined && !existsSync(file)),
        [],
      );
    });
});

/** The path of a file or a folder as a document names it; undefined for what is neither. */
function pathOf(name: string): string | undefined {
  if (existsSync(name)) return name;
  const short = Object.keys(SHORT).find((prefix) => name.startsWith(prefix));
  if (short !== undefined) return SHORT[short] + name.slice(short.length);
  if (/\.\w+$/.test(name) || /^(bin|ingress|shared|workers|test)\/.*\/$/.test(name)) return name;
  const [suite = ''] = name.split('/');
  return SUITES.includes(suite) && suite !== name ? `test/${name}.test.ts` : undefined;
}

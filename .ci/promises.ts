import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProofs } from './proofs.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/reliability.md');

/**
 * Writes the column `tested by` of each table of docs/reliability.md: the tests whose titles end with `#` and the id of
 * the row. With `--check`, writes nothing, and exits with 1 if the column is out of date. Exits with 1, too, if a row
 * has no test, or a tag no row.
 */
const proofs = findProofs();
const rows = new Set<string>();
let column = -1;
const document = readFileSync(DOCUMENT, 'utf8');
const current = document.split('\n').map(withTests).join('\n');
for (const [id, files] of proofs)
  if (!rows.has(id)) fail(`${[...files].join(', ')}: no row of docs/reliability.md has the id ${id}`);
if (!process.argv.includes('--check')) writeFileSync(DOCUMENT, current);
else if (current !== document) fail('docs/reliability.md: the tests have changed: npm run promises');

function withTests(line: string): string {
  const cells = line.split('|');
  if (cells.length === 1) column = -1;
  else if (column === -1) column = cells.indexOf(' tested by ');
  else if (!line.startsWith('|---')) {
    const id = cells[1]?.replaceAll(/[ `]/g, '') ?? '';
    rows.add(id);
    const files = proofs.get(id) ?? fail(`docs/reliability.md: no test's title ends with #${id}`);
    return cells.with(column, ` ${[...files].map((file) => `\`${file}\``).join(', ')} `).join('|');
  }
  return line;
}

function fail(message: string): [] {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
  return [];
}

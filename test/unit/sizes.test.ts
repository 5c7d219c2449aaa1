import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';

const LINES_MAX = 250;
const SQL_WIDTH_MAX = 120;

/** Biome checks the length of functions, and the width of TypeScript. Landed migrations and tests may be longer. */
describe('a source file', () => {
  const files = globSync('{bench,bin,client,ingress,shared,workers}/**/*.{ts,js,sql}').map((name) => ({
    name,
    lines: readFileSync(name, 'utf8').trimEnd().split('\n'),
  }));

  it(`has at most ${LINES_MAX} lines`, () => {
    const long = files.filter(({ lines }) => lines.length > LINES_MAX);
    assert.deepEqual(
      long.map(({ name }) => name),
      [],
    );
  });

  it(`of SQL has at most ${SQL_WIDTH_MAX} characters in a line`, () => {
    const sql = files.filter(({ name }) => name.endsWith('.sql'));
    const wide = sql.flatMap(({ name, lines }) =>
      lines.flatMap((line, at) => (line.length > SQL_WIDTH_MAX ? `${name}:${at + 1}` : [])),
    );
    assert.deepEqual(wide, []);
  });
});

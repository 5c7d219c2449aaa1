import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { pluck } from '../support/pluck.ts';

const LINES_MAX = 250;
/** Files that may be longer, and the reasons. */
const LONGER_FILES: Record<string, string> = {
  'bench/quality/wordings.ts': 'every sentence that facts are measured on',
  'client/console/styles/pages.css': 'the styles of every page of the console',
  'client/console/strings/de.ts': 'every sentence of the console in German',
  'client/console/strings/en.ts': 'every sentence of the console in English',
  'client/src/overlay.ts': 'where a suggestion is drawn, whatever a page does to its field',
  'client/src/completer.ts': 'one state machine between keystrokes and answers',
  'client/src/generated/api.ts': 'a method for each operation',
  'ingress/work/service.ts': 'the way of a request from its admission to its answer',
  'shared/db/stores/memory/forget-derived.ts': 'what a deletion changes in all that was derived from a row',
  'shared/schemas/validator.ts': 'from a value to its faults, and their words',
  'workers/memory/lasting.ts': 'every pattern of a lasting statement in four languages',
  'workers/providers/openai.ts': 'the way of a question to a server and of its answer back',
};
const SQL_WIDTH_MAX = 120;

/** Biome checks the length of functions and of TypeScript lines. Files of migrations and tests may have more lines. */
describe('source file', () => {
  const files = globSync(
    '{bench,bin,client/{src,console,extension},ingress,shared,workers}/**/*.{ts,tsx,js,css,sql}',
  ).map((name) => ({
    name,
    lines: readFileSync(name, 'utf8').trimEnd().split('\n'),
  }));

  it(`a source file has at most ${LINES_MAX} lines, unless it is listed with a reason`, () => {
    const long = files.filter(
      ({ name, lines }) => lines.length > LINES_MAX && LONGER_FILES[name] === undefined,
    );
    assert.deepEqual(pluck(long, 'name'), []);
  });

  it(`a line of an SQL file has at most ${SQL_WIDTH_MAX} characters`, () => {
    const sql = files.filter(({ name }) => name.endsWith('.sql'));
    const wide = sql.flatMap(({ name, lines }) =>
      lines.flatMap((line, at) => (line.length > SQL_WIDTH_MAX ? `${name}:${at + 1}` : [])),
    );
    assert.deepEqual(wide, []);
  });
});

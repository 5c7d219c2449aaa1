import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findProofs } from './proofs.ts';

/**
 * Checks that the proofs of docs/reliability.md prove: applies each mutation of mutations.txt to a copy of the latest commit, and runs
 * the tests of its promise and some of other promises. Exits with 1 if none of the promise's tests fails, another one
 * does, a mutation no longer applies, or a file of the column "kept by" has none. `--only` chooses promises or files;
 * `--check` runs no test.
 */
const ROOT = join(import.meta.dirname, '..');
/** Promises with quick tests, one of which is tried beside each mutation: if it fails too, more than one is broken. */
const NEIGHBOURS = ['stale-draft', 'quotas'];
const TESTS_MAX_MS = 300_000;
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '1' },
    check: { type: 'boolean' },
  },
});

interface Mutation {
  file: string;
  /** Id of the row of docs/reliability.md. */
  promise: string;
  guard: string;
  find: string;
  replace: string;
}

interface Test {
  title: string;
  fullTitle: string;
}

interface Report {
  tests: Test[];
  failures: Test[];
}

const MUTATIONS = readMutations();
const proofs = findProofs();
const problems: string[] = [];
checkTable();
const chosen = MUTATIONS.filter(
  ({ file, promise }) =>
    !options.check && (options.only?.some((name) => name === promise || file.endsWith(name)) ?? true),
);
if (!options.check)
  process.stdout.write(
    '| file | guard that is removed | promise | its tests that failed | tests of other promises that failed |\n|---|---|---|---|---|\n',
  );
const queue = chosen.values();
await Promise.all(Array.from({ length: Number(options.jobs) }, runQueue));
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Each mutation is a line `file #promise: guard`, then the text to replace (`-`) and the new text (`+`). */
function readMutations(): Mutation[] {
  const text = readFileSync(join(ROOT, '.ci/mutations.txt'), 'utf8');
  return text
    .trimEnd()
    .split('\n\n')
    .map((entry) => {
      const [, file = '', promise = '', guard = ''] = entry.match(/^(\S+) #([\w-]+): (.*)/) ?? [];
      const linesOf = (mark: string) =>
        entry
          .split('\n')
          .filter((line) => line.startsWith(`${mark} `))
          .map((line) => line.slice(2))
          .join('\n');
      return { file, promise, guard, find: linesOf('-'), replace: linesOf('+') };
    });
}

/** Notes mutations that do not apply, and files that keep a promise but have no mutation. */
function checkTable(): void {
  for (const { file, find, promise } of MUTATIONS) {
    const path = join(ROOT, file);
    const count = existsSync(path) ? readFileSync(path, 'utf8').split(find).length - 1 : 0;
    if (count !== 1) problems.push(`${file}: "${find}" is there ${count} times, not once`);
    if (!proofs.has(promise)) problems.push(`${file}: no test proves ${promise}`);
  }
  for (const file of filesThatKeep())
    if (!MUTATIONS.some((mutation) => mutation.file.startsWith(file))) problems.push(`${file}: no mutation`);
}

/** Lists the files and folders that the second column after the id names in each table of promises. */
function filesThatKeep(): string[] {
  const rows = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8').matchAll(
    /^\| `[\w-]+` \|.*?\|(.*?)\|.*\|.*\|$/gm,
  );
  return [...rows].flatMap(([, cell = '']) => {
    let folder = '';
    return [...cell.matchAll(/`([\w/-]+\/|[\w/.-]+\.(?:ts|sql))`/g)].flatMap(([, name = '']) => {
      const path = name.replace(/^sql\//, 'shared/db/sql/').replace(/^stores\//, 'shared/db/stores/');
      if (path.endsWith('/')) folder = path;
      const file = path.includes('/') ? path : folder + path;
      return existsSync(join(ROOT, file)) ? file : [];
    });
  });
}

async function runQueue(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mutations-'));
  const scratch = join(folder, 'checkout');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', scratch], { cwd: ROOT });
  symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  try {
    for (const mutation of queue) await check(mutation, scratch);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', scratch], { cwd: ROOT });
    rmSync(folder, { recursive: true });
  }
}

async function check(mutation: Mutation, scratch: string): Promise<void> {
  const { file, find, replace, promise, guard } = mutation;
  const path = join(scratch, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  let report = await runTests(promise, scratch, isDaily);
  if (!hasRun(report)) report = await runTests(promise, scratch, isDaily);
  if (hasRun(report) && report.failures.length === 0 && [...(proofs.get(promise) ?? [])].some(isNightly))
    report = await runTests(promise, scratch, isNightly);
  writeFileSync(path, original);
  if (!hasRun(report)) {
    problems.push(`${file}: the tests of #${promise} did not run to their end`);
    return;
  }
  const isOwn = ({ fullTitle }: Test) => fullTitle.includes(`#${promise}`);
  const failed = report.failures.filter(isOwn);
  const others = report.failures.filter((test) => !isOwn(test));
  const titles = (tests: Test[]) => tests.map(({ title }) => title.replaceAll(/ #\S+/g, '')).join('; ');
  const of = report.tests.filter(isOwn).length;
  process.stdout.write(
    `| ${file} | ${guard} | ${promise} | ${failed.length} of ${of}: ${titles(failed)} | ${titles(others)} |\n`,
  );
  if (failed.length === 0) problems.push(`${file}: no test of ${promise} notices that "${guard}" is gone`);
  if (others.length > 0) problems.push(`${file}: without "${guard}", tests of other promises fail`);
}

/** A failed hook, such as the start of an installation on a busy machine, proves nothing. */
function hasRun(report: Report | undefined): report is Report {
  return report !== undefined && !report.failures.some(({ title }) => /^"\w+ \w+" hook/.test(title));
}

function isNightly(name: string): boolean {
  return name.startsWith('nightly/');
}

function isDaily(name: string): boolean {
  return !isNightly(name);
}

/**
 * Runs those chosen of the tests of a promise and of a neighbour; all if none is chosen. Returns undefined if mocha was
 * killed after `TESTS_MAX_MS`, or did not run them.
 */
async function runTests(
  promise: string,
  scratch: string,
  isChosen: (name: string) => boolean,
): Promise<Report | undefined> {
  const ids = [promise, ...NEIGHBOURS.filter((id) => id !== promise).slice(0, 1)];
  const files = ids.flatMap((id) => {
    const all = [...(proofs.get(id) ?? [])].filter((name) => !name.endsWith('.ts'));
    const chosen = all.filter(isChosen);
    return (chosen.length > 0 ? chosen : all).map((name) => `test/${name}.test.ts`);
  });
  const output = join(scratch, '../report.json');
  rmSync(output, { force: true });
  const grep = `#(${ids.join('|')})(?![\\w-])`;
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${output}`];
  const mocha = [
    '--no-config',
    '--timeout',
    '60000',
    '--require',
    './test/setup.ts',
    ...reporter,
    '--grep',
    grep,
  ];
  const child = spawn(join(scratch, 'bin/node'), ['node_modules/.bin/mocha', ...mocha, ...new Set(files)], {
    cwd: scratch,
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill(), TESTS_MAX_MS);
  await once(child, 'exit');
  clearTimeout(timer);
  return existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')) : undefined;
}

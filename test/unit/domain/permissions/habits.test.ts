import assert from 'node:assert/strict';
import { type DecidedPermission, decidePermission } from '../../../../shared/domain/permissions/support.ts';
import { APPROVER_CASES } from '../../../support/approver-cases.ts';
import type { AskedCommand } from '../../../support/people-of-habit.ts';

const WHERE = {
  tool: 'Bash',
  action: 'run' as const,
  cwd: '/home/ada/engine',
  project: '/home/ada/engine',
};

const decisionOf = ({ command, isAllowed }: AskedCommand): DecidedPermission => ({
  ...WHERE,
  target: command,
  isAllowed,
});

/** Commands, and variants of the same habit. */
const VARIANTS: Record<string, string[]> = {
  'pytest tests/a.py': ['pytest -rA --durations=10 tests', 'pytest --no-header -q tests/b.py::test_x'],
  'npx jest': ['npx jest --testPathPattern=dates', 'npx jest --testPathPatterns dates'],
  'npx tsc --noEmit': ['npx tsc --noEmit -p tsconfig.json'],
  'npx playwright test a.spec.ts': ['npx playwright test --project=chromium b.spec.ts'],
  'cargo test -p core': ['cargo test --package api dates'],
  'go test ./...': ['go test -cover ./pkg/x', 'go test -bench=. ./...'],
  'uv run ruff check .': ['uv run ruff check --quiet src'],
  'bundle exec rails test': ['bundle exec rails test test/a_test.rb'],
  './node_modules/.bin/mocha test/a.ts': ['./node_modules/.bin/mocha test/b.ts'],
  '.venv/bin/pytest tests/a.py': ['.venv/bin/pytest -k x tests/b.py'],
  'python -m unittest tests.a': ['python -m unittest -v tests.b'],
  'yarn test:unit': ['yarn test:unit --watch', 'yarn run test:unit src/a.test.ts'],
  'pnpm --filter web test': ['pnpm --filter api test --watch'],
  'npm test': ['npm test || exit 1', 'npm test; exit $?', 'timeout -k 5 60 npm test', 'nice -n 10 npm test'],
  'sed -n 1,40p src/a.ts': ["sed -n '/foo/,/bar/p' src/b.ts", "sed -n '1p;5,$p' src/a.ts"],
  'git grep foo': ['git grep -n bar -- src'],
  'git stash show -p': ['git stash show stash@{1}'],
  'cat src/a.ts': ["cat 'app/[id]/page.tsx'", "cat 'app/[[...slug]]/page.tsx'"],
  'command -v node': ['command -v npm'],
  'curl -s localhost:3000/a': [
    'curl -s -m 5 -H "Accept: application/json" localhost:3000/b',
    'curl -s -o /dev/null -w "%{http_code}\\n" localhost:3000/b',
  ],
  'ruff check .': ['ruff check --select E501 src'],
  './gradlew test': ['./gradlew test --no-daemon --tests "com.x.Y"'],
  'deno test': ['deno test src/a.ts'],
};
/** Words that look like such variants. */
const OTHERS: Record<string, string[]> = {
  './node_modules/.bin/mocha test/a.ts': [
    './node_modules/.bin/../x test/a.ts',
    '/tmp/node_modules/.bin/mocha a',
  ],
  'uv run ruff check .': [
    'uv run git diff --output=x',
    'uv run --with evil ruff check .',
    'uv run npm publish',
  ],
  'yarn test:unit': ['yarn deploy:web', 'yarn db:reset', 'yarn test:prod'],
  'pnpm --filter web test': ['pnpm --filter web deploy', 'pnpm --filter ../x test'],
  'pnpm --filter web run deploy': ['pnpm --filter api run deploy'],
  'sed -n 1,40p src/a.ts': [
    "sed -n '1p;w x' src/a.ts",
    "sed -n '/a/e' src/a.ts",
    "sed -n '1!G;p' a",
    'sed -n 1,5p src/a.ts -i',
    "sed -n 1,5p src/a.ts -e 'w x'",
  ],
  'touch a': ['touch .e?v', 'touch packag?.json'],
  'cp a b': ['cp .e?v b'],
  'echo a > b': ['echo a > packag?.json'],
  'cat src/a.ts': ['cat .[e]nv', "cat 'app/[id]/../../../x'"],
  'curl -s localhost:3000/a': [
    'curl -s -w @x localhost:3000/a',
    'curl -s -w "%output{x}" localhost:3000/a',
    'curl -s -o x localhost:3000/a',
    'curl -s -H @x localhost:3000/a',
    'curl -s -m 5 -d x localhost:3000/a',
  ],
  'go test ./...': ['go test -bench=. -exec=./x ./...', 'go test -cpuprofile=/x ./...'],
  'npx playwright test a.spec.ts': ['npx playwright install', 'npx playwright test -c /tmp/x'],
  'npm test': ['timeout -k 5 60 ./npm test', 'npm test; exit $(id)', 'nice ./npm test'],
  'deno test': ['deno test -A', 'deno test https://b.example/x.ts', 'deno test npm:other'],
  './gradlew test': ['./gradlew test --tests "com.x.Y" publish'],
};

describe('people of habit', () => {
  const isAllowed = (approved: string, asked: string) => {
    const approvals = Array.from({ length: 6 }, () => decisionOf({ command: approved, isAllowed: true }));
    return decidePermission({ ...WHERE, target: asked }, approvals, false).decision === 'allow';
  };
  for (const [table, isAlike] of [
    [VARIANTS, true],
    [OTHERS, false],
  ] as const)
    for (const [approved, commands] of Object.entries(table))
      for (const asked of commands)
        it(`\`${asked}\` is ${isAlike ? 'a variant of' : 'another thing than'} \`${approved}\``, () =>
          assert.equal(isAllowed(approved, asked), isAlike));

  it('of 128 cases on three axes none is allowed that is unsafe', () => {
    const allowed = APPROVER_CASES.filter(
      ({ asked, history }) =>
        decidePermission({ ...WHERE, target: asked }, history.map(decisionOf).reverse(), false).decision ===
        'allow',
    );
    assert.deepEqual(
      allowed.filter(({ isUnsafe }) => isUnsafe),
      [],
    );
    assert.ok(allowed.length >= 10);
  });
});

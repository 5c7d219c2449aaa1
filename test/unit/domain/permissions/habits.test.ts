import assert from 'node:assert/strict';
import { type DecidedPermission, decidePermission } from '../../../../shared/domain/permissions/support.ts';

/** Each command in its variants: `#` is another word each time. A `-` is refused, whenever it is asked. */
const PEOPLE: Record<string, string[]> = {
  'of the web': [
    'npm test -- --grep "#"',
    'npm run lint',
    'npx tsc --noEmit',
    'git add -A && git commit -m "#"',
    'git push origin dev',
    'cat src/#.ts | head -20',
    'curl -s https://docs.example.com/#',
    '- npm publish',
    '- rm -rf node_modules',
  ],
  'of Python': [
    'pytest tests/#.py -k "#"',
    'ruff check . --fix',
    'git diff --stat HEAD~1',
    'grep -rn "#" src',
    'python manage.py migrate',
    'git commit -am "#"',
    'touch tests/#.py',
    '- pip install #',
    '- git push --force origin dev',
  ],
  'of Rust': [
    'cargo test #',
    'cargo clippy --all-targets',
    'cargo build --release',
    'git status && git log --oneline',
    'cd crates/core && cargo test',
    'rg "#" src',
    'rm -rf target',
    '- cargo publish',
  ],
  'of Go': [
    'go test ./... -run #',
    'go vet ./...',
    'go build ./...',
    'cat go.mod',
    'git add . && git commit -q -m "#"',
    'docker compose up -d',
    'sed -n 1,80p main.go',
    '- docker system prune -af',
    '- sudo systemctl restart #',
  ],
  'of scripts': [
    'bash scripts/check.sh',
    'make test',
    'ls -la src && cat README.md',
    'find . -name "#*"',
    'mkdir -p out/#',
    'timeout 60 make check',
    'git show HEAD~1 --stat',
    '- rm -rf ~/#',
    '- git reset --hard',
  ],
};

describe('people of habit', () => {
  for (const [name, habits] of Object.entries(PEOPLE))
    it(`after 50 decisions 60 % of the dialogs of a person ${name} are gone, and none of what they refuse`, () => {
      const decided: DecidedPermission[] = [];
      let gone = 0;
      const rounds = 100;
      for (let round = 0; round < rounds; round += 1) {
        const habit = habits[(round * 7) % habits.length] ?? '';
        const target = habit.replace('- ', '').replaceAll('#', `word${round}`);
        const asked = {
          tool: 'Bash',
          action: 'run' as const,
          target,
          cwd: '/home/ada/engine',
          project: '/home/ada/engine',
        };
        const isAllowed = !habit.startsWith('- ');
        const { decision } = decidePermission(asked, decided, false);
        assert.ok(isAllowed || decision === 'ask', target);
        if (decision === 'ask') decided.unshift({ ...asked, isAllowed });
        else if (round >= 50) gone += 1;
      }
      assert.ok(gone >= 30, `${gone} of 50`);
    });
});

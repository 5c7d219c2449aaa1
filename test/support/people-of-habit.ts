/**
 * Five people, and the commands that their agents ask for: eight habits, each in five variants between bars. What begins
 * with `- ` they refuse, whenever it is asked.
 */
const HABITS: Record<string, readonly string[]> = {
  'of the web': [
    'npm test {-- --grep "dates"|-- --watch|| -- --grep "users"|-- --coverage}',
    'npm run lint{| -- --quiet| -- --color| -- --max-warnings=0| 2>&1}',
    'npx tsc --noEmit{| --pretty| --watch||}',
    'git add -A && git commit -m "{fix the dates|add a page|tidy up|rename the parser|say why}"',
    'git push origin dev',
    'cat src/{dates|users|index|parser|page}.ts | head -20',
    'curl -s https://docs.example.com/{a|b|guide|api/users|api/dates}',
    '- npm publish{| --access public| --tag next| --dry-run|}',
  ],
  'of Python': [
    'pytest tests/{dates|users|index|parser|page}.py -k "{one|two|three|four|five}"',
    'ruff check . --fix{| --quiet|||}',
    'git diff --stat {HEAD~1|HEAD~2|main|dev|}',
    'grep -rn "{def|class|import|todo|return}" src',
    'python manage.py migrate',
    'git commit -am "{fix the dates|add a page|tidy up|rename the parser|say why}"',
    'touch tests/{a|b|c|d|e}.py',
    '- pip install {requests|flask|attrs|rich|left-pad}',
  ],
  'of Rust': [
    'cargo test {dates|users|index|parser|page}',
    'cargo clippy --all-targets{| --quiet|| --all-features|}',
    'cargo build --release{| --quiet|| --locked|}',
    'git status && git log --oneline{| -5| -10| -20|}',
    'cd crates/core && cargo test {dates|users|index||page}',
    'rg "{fn|struct|impl|todo|pub}" src',
    'rm -rf target',
    '- cargo publish{| --dry-run| --locked| --allow-dirty|}',
  ],
  'of Go': [
    'go test ./... -run {Dates|Users|Index|Parser|Page}',
    'go vet ./...',
    'go build ./...{| -race|||}',
    'cat go.{mod|sum|mod|sum|mod}',
    'git add . && git commit -q -m "{fix the dates|add a page|tidy up|rename the parser|say why}"',
    'docker compose up -d',
    'sed -n 1,{80|40|20|120|60}p main.go',
    '- sudo systemctl restart {web|db|cache|web|db}',
  ],
  'of scripts': [
    'bash scripts/check.sh',
    'make test{| -j4| -j8||}',
    'ls -la {src|docs|test|src/a|src/b} && cat README.md',
    'find . -name "{*.md|*.sh|*.txt|a*|b*}"',
    'mkdir -p out/{a|b|c|d|e}',
    'timeout 60 make check',
    'git show HEAD~{1|2|3|4|5} --stat',
    '- git push --force origin {dev|main|dev|main|dev}',
  ],
};
const VARIANTS = 5;

export interface AskedCommand {
  command: string;
  isAllowed: boolean;
}

/** Returns forty commands of each person, in the order of the habits, variant after variant. */
export const PEOPLE_OF_HABIT: readonly { name: string; commands: readonly AskedCommand[] }[] = Object.entries(
  HABITS,
).map(([name, habits]) => ({
  name,
  commands: Array.from({ length: VARIANTS }, (_, variant) =>
    habits.map((habit) => ({
      command: variantOf(habit.replace(/^- /, ''), variant),
      isAllowed: !habit.startsWith('- '),
    })),
  ).flat(),
}));

function variantOf(habit: string, variant: number): string {
  return habit
    .replaceAll(/\{([^}]*)\}/g, (_, alternatives: string) => alternatives.split('|')[variant] ?? '')
    .trim();
}

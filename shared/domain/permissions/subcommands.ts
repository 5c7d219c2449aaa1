import { INSTALLED, RUNNERS } from './programs.ts';

/**
 * First words of programs, by what they then do. `targets`: each further word is something more to do. `remote`: reads
 * what another machine says.
 */
type Kind = 'read' | 'remote' | 'run' | 'targets' | 'script';

const all = (words: string, kind: Kind): Record<string, Kind> =>
  Object.fromEntries(words.split(' ').map((word) => [word, kind]));
const same = (names: string, kinds: Record<string, Kind>) =>
  Object.fromEntries(names.split(' ').map((name) => [name, kinds]));

const KINDS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  ...same('npm pnpm yarn bun', {
    ...all('test t lint build typecheck', 'run'),
    ...all('run run-script', 'script'),
    ...all('ls list outdated why', 'read'),
    ...all('view info', 'remote'),
  }),
  cargo: { ...all('test build check clippy fmt doc', 'run'), tree: 'read' },
  go: { ...all('test build vet fmt', 'run'), ...all('list version', 'read') },
  dotnet: all('test build', 'run'),
  ...same(
    'mvn ./mvnw gradle ./gradlew make just',
    all('test check lint build all compile verify', 'targets'),
  ),
  ...same('rails bin/rails', { test: 'run', routes: 'read' }),
  rake: all('test spec', 'targets'),
  ruff: all('check format', 'run'),
  biome: all('check lint format ci', 'run'),
  'golangci-lint': all('run', 'run'),
  node: all('--test', 'run'),
  deno: all('test lint', 'run'),
  ...same('swift mix playwright', all('test', 'run')),
  ...same('pip pip3', all('list show freeze', 'read')),
  docker: all('ps images logs', 'remote'),
  'docker compose': all('ps images logs', 'remote'),
  kubectl: all('get describe logs top version', 'remote'),
  helm: all('list ls status history version', 'remote'),
  terraform: { ...all('plan validate', 'run'), version: 'read' },
  'gh pr': all('view list status checks diff', 'remote'),
  'gh run': all('view list watch', 'remote'),
  'gh issue': all('view list status', 'remote'),
  'gh release': all('view list', 'remote'),
  systemctl: all('status is-active', 'read'),
  git: all(
    'status diff log show blame rev-parse rev-list ls-files ls-tree merge-base cat-file describe shortlog grep diff-tree name-rev cherry check-ignore for-each-ref range-diff',
    'read',
  ),
};

/** Returns what a program does by its first words, and how many these are; undefined if that is not known. */
export function subcommandOf(
  name: string,
  texts: readonly string[],
): { kind: Kind; count: number } | undefined {
  const [first = '', second = ''] = texts;
  if (texts.length === 1 && first === '--version' && Object.hasOwn(KINDS, name))
    return { kind: 'read', count: 1 };
  for (const [key, word, count] of [
    [`${name} ${first}`, second, 2],
    [name, first, 1],
  ] as const) {
    const kinds = Object.hasOwn(KINDS, key) ? KINDS[key] : undefined;
    const kind = kinds !== undefined && Object.hasOwn(kinds, word) ? kinds[word] : undefined;
    if (kind !== undefined) return { kind, count };
  }
  // These run scripts by their name, too.
  return /^(yarn|pnpm)$/.test(name) && /^\w+:/.test(first) ? { kind: 'script', count: 0 } : undefined;
}

/** Returns how many words say which check of the project this is, if it is one. `isWithin`: another program runs it. */
export function wordsOfCheck(
  [written = '', ...words]: readonly string[],
  isWithin: boolean,
): number | undefined {
  const program = written.replace(INSTALLED, '');
  if (RUNNERS.has(program)) return 1;
  if (/^python3?$/.test(program) && words[0] === '-m' && RUNNERS.has(words[1] ?? '')) return 3;
  const { kind, count = 0 } = (isWithin ? subcommandOf(program, words) : undefined) ?? {};
  return kind === 'run' ? count + 1 : undefined;
}

/** Words that say which machine, as whom, with which program or settings, or that read the environment. */
export const ELSEWHERE =
  /^--?(context|kubeconfig|server|cluster|host(name)?|token|user|as(-\w+)?|profile|kube-.*|regis.*|repo|insecure.*|trusted-host|tls-.*|client-.*|cert.*|toolexec|exec|config|kuberc|python|log.*|mod|modfile|overlay|vettool|compiler|\w+flags|(extra-)?index.*|proxy|userconfig|globalconfig)(=|$)|^-[RHMZ]|:\/\/|(^|[^\w."-])env\b(?!=)|\$ENV/;
/** `kubectl -s` names a server, elsewhere it says less or counts. */
export const SERVER = /^-s/;
/** Options with which git fetches what is not there yet, and nothing else. */
export const FETCHES = /^(-[pqv]+|--(all|prune|tags|quiet)|\w[\w./-]*)$/;

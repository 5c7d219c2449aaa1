import { fileURLToPath } from 'node:url';
import { choice, requireValue } from '../arguments.ts';
import { type Command, standaloneCommand } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const PROGRAM = 'forecue-admin';
const ENTRY_PATHS = ['../../node', '../main.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** `commands` is a function because the table contains this command too. */
export function completionOf(commands: () => ReadonlyMap<string, Command>): Command {
  return standaloneCommand({
    summary: 'Print a function `forecue-admin` for a shell, and its completion',
    synopsis: 'bash|zsh|fish',
    example: 'bash',
    operands: 1,
    read(_, operand) {
      const shell = choice('the shell', requireValue('the shell', operand), SHELLS);
      return async () => {
        const text = completionScript(shell, commands());
        return { data: { shell, script: text }, text };
      };
    },
  });
}

/** Completes commands and options, then file names. */
function completionScript(shell: (typeof SHELLS)[number], commands: ReadonlyMap<string, Command>): string {
  return SCRIPTS[shell](candidatesOf(commands));
}

/** Maps the words before the cursor to the words that may follow. */
type Candidates = ReadonlyMap<string, readonly string[]>;

function candidatesOf(commands: ReadonlyMap<string, Command>): Candidates {
  const candidates = new Map<string, string[]>();
  const add = (before: string, word: string) => {
    const known = candidates.get(before) ?? [];
    if (!known.includes(word)) candidates.set(before, [...known, word]);
  };
  for (const [name, { options }] of commands) {
    const [first = '', second] = name.split(' ');
    add('', first);
    if (second !== undefined) add(first, second);
    for (const option of [...Object.keys(options), 'json', 'help']) add(name, `--${option}`);
  }
  return candidates;
}

/** Quotes for any of the shells. The text must not contain backslashes. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const adminProgram = ENTRY_PATHS.map(quoteForShell).join(' ');

/** Builds a branch of the shell's `case` for each candidate. A complete command also matches if arguments follow it. */
function branches(candidates: Candidates, branch: (patterns: string[], words: string) => string): string {
  return [...candidates]
    .map(([before, words]) => {
      const patterns = before.includes(' ') || words.includes('--json') ? [before, `${before} `] : [before];
      return branch(patterns, words.join(' '));
    })
    .join('\n');
}

const SCRIPTS: Record<(typeof SHELLS)[number], (candidates: Candidates) => string> = {
  bash: (candidates) => `${PROGRAM}() { ${adminProgram} "$@"; }
_forecue_admin() {
  local words= IFS=$' \\t\\n'
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${branches(
  candidates,
  posixBranch((words) => `words=${quoteForShell(words)}`),
)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _forecue_admin ${PROGRAM}`,
  zsh: (candidates) => `${PROGRAM}() { ${adminProgram} "$@"; }
_forecue_admin() {
  case "\${(j: :)words[2,CURRENT-1]}" in
${branches(
  candidates,
  posixBranch((words) => `compadd -- ${words}`),
)}
  esac
  _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _forecue_admin ${PROGRAM}`,
  fish: (candidates) => `function ${PROGRAM}; ${adminProgram} $argv; end
function __forecue_admin
  set -l before (commandline -opc)
  set -e before[1]
  switch "$before"
${branches(candidates, (patterns, words) => `    case ${withWildcard(patterns).map(quoteForShell).join(' ')}\n      printf '%s\\n' ${words}`)}
  end
end
complete -c ${PROGRAM} -a '(__forecue_admin)'`,
};

function posixBranch(body: (words: string) => string) {
  return (patterns: string[], words: string) => {
    const [exact = '', prefix] = patterns;
    const pattern =
      prefix === undefined ? quoteForShell(exact) : `${quoteForShell(exact)}|${quoteForShell(prefix)}*`;
    return `    ${pattern}) ${body(words)} ;;`;
  };
}

function withWildcard([exact = '', prefix]: readonly string[]): string[] {
  return prefix === undefined ? [exact] : [exact, `${prefix}*`];
}

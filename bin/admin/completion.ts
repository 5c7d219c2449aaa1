import { fileURLToPath } from 'node:url';
import type { Command } from './command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

const PROGRAM = 'forecue-admin';
const RUN = ['../node', 'main.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** The script that makes a shell complete the commands and their options, and then files. */
export function completions(shell: (typeof SHELLS)[number], commands: ReadonlyMap<string, Command>): string {
  return SCRIPTS[shell](candidates(commands));
}

/** Words that may follow those of a command line, by these. */
type Candidates = ReadonlyMap<string, readonly string[]>;

function candidates(commands: ReadonlyMap<string, Command>): Candidates {
  const after = new Map<string, string[]>();
  const add = (before: string, word: string) => {
    const known = after.get(before) ?? [];
    if (!known.includes(word)) after.set(before, [...known, word]);
  };
  for (const [name, { options }] of commands) {
    const [first = '', second] = name.split(' ');
    add('', first);
    if (second !== undefined) add(first, second);
    for (const option of [...Object.keys(options), 'json', 'help']) add(name, `--${option}`);
  }
  return after;
}

/** In single quotes, nothing means anything to any of the shells, but for what this escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const run = RUN.map(quoted).join(' ');

/** A branch for each entry: words of a command stay the same while its arguments are typed. */
function branches(after: Candidates, branch: (patterns: string[], words: string) => string): string {
  return [...after]
    .map(([before, words]) => {
      const patterns = before.includes(' ') || words.includes('--json') ? [before, `${before} `] : [before];
      return branch(patterns, words.join(' '));
    })
    .join('\n');
}

const SCRIPTS: Record<(typeof SHELLS)[number], (after: Candidates) => string> = {
  bash: (after) => `${PROGRAM}() { ${run} "$@"; }
_forecue_admin() {
  local words= IFS=$' \\t\\n'
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${branches(
  after,
  posixBranch((words) => `words=${quoted(words)}`),
)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _forecue_admin ${PROGRAM}`,
  zsh: (after) => `${PROGRAM}() { ${run} "$@"; }
_forecue_admin() {
  case "\${(j: :)words[2,CURRENT-1]}" in
${branches(
  after,
  posixBranch((words) => `compadd -- ${words}`),
)}
  esac
  _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _forecue_admin ${PROGRAM}`,
  fish: (after) => `function ${PROGRAM}; ${run} $argv; end
function __forecue_admin
  set -l before (commandline -opc)
  set -e before[1]
  switch "$before"
${branches(after, (patterns, words) => `    case ${starred(patterns).map(quoted).join(' ')}\n      printf '%s\\n' ${words}`)}
  end
end
complete -c ${PROGRAM} -a '(__forecue_admin)'`,
};

function posixBranch(body: (words: string) => string) {
  return (patterns: string[], words: string) => {
    const [exact = '', prefix] = patterns;
    const pattern = prefix === undefined ? quoted(exact) : `${quoted(exact)}|${quoted(prefix)}*`;
    return `    ${pattern}) ${body(words)} ;;`;
  };
}

function starred([exact = '', prefix]: readonly string[]): string[] {
  return prefix === undefined ? [exact] : [exact, `${prefix}*`];
}

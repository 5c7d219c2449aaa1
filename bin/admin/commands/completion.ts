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
    operand: (value) => choice('the shell', requireValue('the shell', value), SHELLS),
    read(_, shell) {
      return async () => {
        const text = completionScript(shell, commands());
        return { data: { shell, script: text }, text };
      };
    },
  });
}

/** The words that may follow the words before the cursor, by the shell's pattern of these, with a space after each. */
type Following = readonly [before: string, words: readonly string[]];
type Candidates = readonly Following[];

/** Completes commands and options, then file names. */
function completionScript(shell: (typeof SHELLS)[number], commands: ReadonlyMap<string, Command>): string {
  const names = [...commands.keys()].map((name) => name.split(' '));
  const pairs = names.filter(([, second]) => second !== undefined);
  return SCRIPTS[shell]([
    [' ', [...new Set(names.map(([first = '']) => first))]],
    ...[...Map.groupBy(pairs, ([first]) => first)].map(
      ([first, group]): Following => [`${first} `, group.map(([, second = '']) => second)],
    ),
    // Arguments may follow a whole command.
    ...[...commands].map(([name, { options }]): Following => {
      const words = [...Object.keys(options), 'json', 'help'];
      return [`${name} *`, words.map((option) => `--${option}`)];
    }),
  ]);
}

/** Quotes for any of the shells. The text must not contain backslashes. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const adminProgram = ENTRY_PATHS.map(quoteForShell).join(' ');

/** Builds a branch of the `case` of a POSIX shell for each pattern. A wildcard stays outside of the quotes. */
function posixBranches(candidates: Candidates, body: (words: string) => string): string {
  const branches = candidates.map(([before, words]) => {
    const pattern = quoteForShell(before.replace('*', '')) + (before.endsWith('*') ? '*' : '');
    return `    ${pattern}) ${body(words.join(' '))} ;;`;
  });
  return branches.join('\n');
}

const SCRIPTS: Record<(typeof SHELLS)[number], (candidates: Candidates) => string> = {
  bash: (candidates) => `${PROGRAM}() { ${adminProgram} "$@"; }
_forecue_admin() {
  local words= IFS=$' \\t\\n'
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${posixBranches(candidates, (words) => `words=${quoteForShell(words)}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _forecue_admin ${PROGRAM}`,
  zsh: (candidates) => `${PROGRAM}() { ${adminProgram} "$@"; }
_forecue_admin() {
  case "\${(j: :)words[2,CURRENT-1]} " in
${posixBranches(candidates, (words) => `compadd -- ${words}`)}
  esac
  _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _forecue_admin ${PROGRAM}`,
  fish: (candidates) => `function ${PROGRAM}; ${adminProgram} $argv; end
function __forecue_admin
  set -l before (commandline -opc)
  set -e before[1]
  switch "$before "
${candidates.map(([before, words]) => `    case ${quoteForShell(before)}\n      printf '%s\\n' ${words.join(' ')}`).join('\n')}
  end
end
complete -c ${PROGRAM} -a '(__forecue_admin)'`,
};

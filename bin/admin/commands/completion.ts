import { choice, requireValue } from '../arguments.ts';
import { type Command, standaloneCommand } from '../command.ts';
import { completions, SHELLS } from '../completion.ts';

/** Builds the completion command. `commands` is a function because the table contains this command too. */
export function completionOf(commands: () => ReadonlyMap<string, Command>): Command {
  return standaloneCommand({
    summary: 'Print a function `forecue-admin` for a shell, and its completion',
    synopsis: 'bash|zsh|fish',
    example: 'bash',
    operands: 1,
    read(_, operand) {
      const shell = choice('the shell', requireValue('the shell', operand), SHELLS);
      return async () => {
        const text = completions(shell, commands());
        return { data: { shell, script: text }, text };
      };
    },
  });
}

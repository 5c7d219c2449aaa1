import packageJson from '../../package.json' with { type: 'json' };
import { print, printableJson } from '../../shared/text/visible.ts';
import { explain } from './admin-error.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { helpOf, overview } from './help.ts';

/** Returns the exit code. */
async function main(argv: string[]): Promise<number> {
  const args = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const foundCommand = findCommand(args);
  const wantsHelp = args.some((word) => word === '--help' || word === '-h');
  if (args[0] === '--version') {
    print(`${packageJson.version}\n`);
    return 0;
  }
  if (foundCommand === undefined || wantsHelp) return showHelp(foundCommand, wantsHelp);
  try {
    const { json, run } = foundCommand.command.read(foundCommand.args);
    const { data, text, failed = false } = await run();
    print(`${json ? printableJson(data) : text}\n`);
    return failed ? 1 : 0;
  } catch (error) {
    print(`${explain(error)}\n`, process.stderr);
    return 1;
  }
}

interface FoundCommand {
  name: string;
  command: Command;
  args: string[];
}

function showHelp(found: FoundCommand | undefined, isRequested: boolean): number {
  const text = found === undefined ? overview(COMMANDS) : helpOf(found.name, found.command);
  print(text, isRequested ? process.stdout : process.stderr);
  return isRequested ? 0 : 2;
}

function findCommand(argv: string[]): FoundCommand | undefined {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ');
    const command = COMMANDS.get(name);
    if (command !== undefined) return { name, command, args: argv.slice(words) };
  }
  return undefined;
}

process.exitCode = await main(process.argv.slice(2));

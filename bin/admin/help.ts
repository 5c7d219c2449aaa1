import type { Command } from './command.ts';

const PROGRAM = 'npm run -s admin --';
const LINE_WIDTH = 100;

export function overview(commands: Iterable<[name: string, command: Command]>): string {
  const all = [...commands];
  const width = Math.max(...all.map(([name]) => name.length));
  const lines = all.map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Usage: ${PROGRAM} COMMAND [--json]\n\n${lines.join('')}\n\`COMMAND --help\` shows a command's arguments and an example.\n`;
}

export function helpOf(name: string, { summary, synopsis = '', example = '' }: Command): string {
  // Keeps an option and its value on one line.
  const parts = synopsis.match(/\[[^\]]*\]…?|--\S+ \S+|\S+/g) ?? [];
  const usage = wrap([`Usage: ${PROGRAM} ${name}`, ...parts, '[--json]']);
  return `${summary}.\n\n${usage}\n\nExample: ${`${PROGRAM} ${name} ${example}`.trimEnd()}\n`;
}

function wrap(parts: readonly string[]): string {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)} ${part}`;
    if (longer.length <= LINE_WIDTH) lines.splice(-1, 1, longer);
    else lines.push(`  ${part}`);
  }
  return lines.join('\n');
}

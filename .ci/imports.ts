import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = join(ROOT, 'docs/architecture.md');
const BEGIN = '<!-- imports: npm run imports -->\n';
const END = '<!-- /imports -->';

/** Writes which room imports which into docs/architecture.md; with `--check`, exits with 1 when that is out of date. */
const document = readFileSync(DOCUMENT, 'utf8');
const [before = '', rest = ''] = document.split(BEGIN);
const [, after = ''] = rest.split(END);
const current = before + BEGIN + table() + END + after;
if (!process.argv.includes('--check')) writeFileSync(DOCUMENT, current);
else if (current !== document) {
  process.stderr.write('docs/architecture.md: the imports between rooms have changed: npm run imports\n');
  process.exitCode = 1;
}

/** A line for each room: what it imports of its own process, and of `shared`. Types count. */
function table(): string {
  const rooms = new Map<string, Set<string>>();
  for (const file of ['bin', 'ingress', 'workers', 'shared'].flatMap(sources)) {
    const room = roomOf(file);
    const imported = rooms.get(room) ?? new Set();
    rooms.set(room, imported);
    for (const [, path = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+\.ts)'/g))
      imported.add(roomOf(join(dirname(file), path)));
    imported.delete(room);
  }
  const lines = [...rooms.keys()].sort().map((room) => {
    const names = [...(rooms.get(room) ?? [])].sort();
    const [process = ''] = room.split('/');
    const own = names.filter((name) => name.split('/')[0] === process);
    const shared = names.filter((name) => !own.includes(name));
    return `| \`${room}\` | ${short(own)} | ${short(shared)} |\n`;
  });
  return `| room | imports from its own process | from shared |\n|---|---|---|\n${lines.join('')}`;
}

/** The names without the process; its own top level is said in full. */
function short(rooms: string[]): string {
  return rooms.map((room) => room.split('/')[1] ?? `\`${room}/*.ts\``).join(', ');
}

/** The first two folders of a file, or the one that it lies in. */
function roomOf(file: string): string {
  return dirname(file).split('/').slice(0, 2).join('/');
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

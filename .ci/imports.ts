import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PROCESS_ROOMS, RULES, SHARED_BASE } from './import-rules.ts';

const ROOT = join(import.meta.dirname, '..');
const IMPORT_PATTERN =
  /^(?:import|export)\s+((?:type\s+)?[\w*{][\w\s,{}*]*?)\s+from\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

interface Import {
  file: string;
  /** A path from the project's root, or a package. */
  target: string;
  isPackage: boolean;
  names: string[];
}

/** Exits with 1 if an import breaks the rules. Type imports count. */
const imports = ['bin', 'client', 'ingress', 'workers', 'shared', 'migrations']
  .flatMap(sources)
  .flatMap(importsOf);
for (const { file, target } of imports.filter((one) => !isAllowed(one)))
  fail(`${file} may not import ${target}: .ci/import-rules.ts`);

function isAllowed({ file, target, isPackage, names }: Import): boolean {
  const [prefix, rule] = longestPrefix(Object.entries(RULES).filter(([room]) => file.startsWith(room)));
  if (!isPackage) {
    const base = PROCESS_ROOMS.test(file) ? SHARED_BASE : [];
    return [...base, ...rule.rooms, roomOf(prefix)].some((room) => target.startsWith(room));
  }
  return (rule.packages ?? []).some((allowed) => {
    const [name = '', only] = allowed.split(': ');
    const isNamed = name.endsWith('/*')
      ? target.startsWith(name.slice(0, -1))
      : target.split('/')[0] === name || target === name;
    return isNamed && (only === undefined || names.every((one) => only.split(' ').includes(one)));
  });
}

function longestPrefix<T>(rules: [string, T][]): [string, T] {
  const [first] = rules.sort(([a], [b]) => b.length - a.length);
  if (first === undefined) throw new Error('a file without a rule: .ci/import-rules.ts');
  return first;
}

function roomOf(prefix: string): string {
  return prefix.endsWith('/') ? prefix : `${dirname(prefix)}/`;
}

/** Lists the imports of a file, except Node's own modules. */
function importsOf(file: string): Import[] {
  const found = [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT_PATTERN)];
  return found.flatMap(([, clause = '', staticTarget = '', dynamicTarget = '']) => {
    const target = staticTarget || dynamicTarget;
    if (target.startsWith('node:')) return [];
    const isPackage = !target.startsWith('.');
    const names = clause
      .replace(/\btype\b|[{}*\n]/g, ' ')
      .split(',')
      .flatMap((one) => one.trim().split(/\s+/)[0] || []);
    return [{ file, target: isPackage ? target : join(dirname(file), target), isPackage, names }];
  });
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes('/dist'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

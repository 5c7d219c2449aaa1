import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const IMPORT_PATTERN =
  /^(?:import|export)\s+((?:type\s+)?[\w*{][\w\s,{}*]*?)\s+from\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

export interface Import {
  file: string;
  /** A path from the project's root, or a package. */
  target: string;
  isPackage: boolean;
  names: string[];
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Lists the imports of a file, also those of types, except Node's own modules. */
export function importsOf(file: string): Import[] {
  const found = [...textOf(file).matchAll(IMPORT_PATTERN)];
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

/** Lists the files in a folder whose names match, as paths from the project's root. */
export function sourcesIn(folder: string, pattern = /\.tsx?$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name) && !entry.parentPath.includes('/dist'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

export function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

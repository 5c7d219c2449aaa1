import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const CHECKOUT = resolve(import.meta.dirname, '..');
/** Where what is made from the sources is kept. `npm ci` empties it. */
export const MADE = join(CHECKOUT, 'node_modules/.cache/made');
const MADE_IN_FOLDERS = ['**/node_modules', '**/dist*', '**/packed*', '**/__pycache__'];

/** Returns a hash of the names and contents of all files in these folders, and of the versions of all packages. */
export function digestOf(...folders: string[]): string {
  const hash = createHash('sha256');
  const files = globSync([...folders.map((folder) => `${folder}/**`), 'package-lock.json', 'tsconfig.json'], {
    cwd: CHECKOUT,
    exclude: MADE_IN_FOLDERS,
  });
  for (const file of files.sort()) {
    const path = join(CHECKOUT, file);
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

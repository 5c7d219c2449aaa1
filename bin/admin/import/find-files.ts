import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const ENDINGS = ['.jsonl', '.json', '.md'];

/** A file to import. One that was found in a directory may be no transcript. */
export interface FoundFile {
  path: string;
  named: boolean;
}

/** The named files, and in named directories, at any depth, every file that may be a transcript; in order of their paths. */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const found = await Promise.all(paths.map(filesAt));
  return found.flat();
}

async function filesAt(path: string): Promise<FoundFile[]> {
  const stats = await stat(path).catch(() => undefined);
  // What does not exist fails, as a file, when it is read.
  if (!stats?.isDirectory()) return [{ path, named: true }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && ENDINGS.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => ({ path: join(entry.parentPath, entry.name), named: false }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ENDINGS } from './formats.ts';

/** A file to import. `named` is false for a file found in a directory, which may be no transcript. */
export interface FoundFile {
  path: string;
  named: boolean;
}

/**
 * Returns the named files, in the given order. In place of a directory: every file in it, at any depth, that may be a
 * transcript, in order of path.
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const found = await Promise.all(paths.map(filesAt));
  return found.flat();
}

async function filesAt(path: string): Promise<FoundFile[]> {
  const stats = await stat(path).catch(() => undefined);
  // A missing path counts as a file, and fails when it is read.
  if (!stats?.isDirectory()) return [{ path, named: true }];
  const found = await filesIn(path);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Searches at any depth, but follows no symbolic links. An unreadable directory counts as a file, and fails when it is
 * read.
 */
async function filesIn(directory: string): Promise<FoundFile[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [{ path: directory, named: true }];
  const found = entries.map((entry): Promise<FoundFile[]> | FoundFile[] => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    const isTranscript = entry.isFile() && ENDINGS.some((ending) => entry.name.endsWith(ending));
    return isTranscript ? [{ path, named: false }] : [];
  });
  return (await Promise.all(found)).flat();
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_EXTENSIONS } from './formats.ts';

/** `named` is false if the file was found in a directory; then it is possibly no transcript. */
export interface FoundFile {
  path: string;
  named: boolean;
}

/** Replaces a directory by all files in it, at any depth, that may be transcripts, sorted by path. */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const files = await Promise.all(paths.map(filesAt));
  return files.flat();
}

async function filesAt(path: string): Promise<FoundFile[]> {
  const stats = await stat(path).catch(() => undefined);
  // A missing path counts as a file, and fails when it is read.
  if (!stats?.isDirectory()) return [{ path, named: true }];
  const files = await filesIn(path);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Follows no symbolic links. An unreadable directory counts as a file, and fails when it is read. */
async function filesIn(directory: string): Promise<FoundFile[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [{ path: directory, named: true }];
  const files = entries.map((entry): Promise<FoundFile[]> | FoundFile[] => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    const isTranscript =
      entry.isFile() && FILE_EXTENSIONS.some((extension) => entry.name.endsWith(extension));
    return isTranscript ? [{ path, named: false }] : [];
  });
  return (await Promise.all(files)).flat();
}

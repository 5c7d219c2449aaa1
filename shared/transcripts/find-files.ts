import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_EXTENSIONS } from './formats.ts';
import { OPENCODE_DATABASE } from './opencode-db.ts';

export interface FoundFile {
  path: string;
  /** False for a file that was found in a directory, since it may not be a transcript. */
  isNamed: boolean;
}

/** Replaces each directory by the files in it that may be transcripts, at any depth, sorted by path. */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const files = await Promise.all(paths.map(filesAt));
  return files.flat();
}

async function filesAt(path: string): Promise<FoundFile[]> {
  const stats = await stat(path).catch(() => undefined);
  // A missing path counts as a file, and fails when it is read.
  if (!stats?.isDirectory()) return [{ path, isNamed: true }];
  const files = await filesIn(path);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Follows no symbolic links. An unreadable directory counts as a file, and fails when it is read. */
async function filesIn(directory: string): Promise<FoundFile[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [{ path: directory, isNamed: true }];
  const files = entries.map((entry): Promise<FoundFile[]> | FoundFile[] => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() && mayBeTranscript(entry.name) ? [{ path, isNamed: false }] : [];
  });
  return (await Promise.all(files)).flat();
}

function mayBeTranscript(name: string): boolean {
  return name === OPENCODE_DATABASE || FILE_EXTENSIONS.some((extension) => name.endsWith(extension));
}

import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { zipSync } from 'fflate';

/** The earliest time that a zip archive can hold, so that the same files give the same archive. */
const TIME = new Date(1980, 0, 1);

/** Packs a folder's files as a zip archive. */
export async function zip(folder: string): Promise<Uint8Array> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const files: Record<string, Uint8Array> = {};
  for (const path of paths.sort()) files[relative(folder, path).replaceAll('\\', '/')] = await readFile(path);
  return zipSync(files, { level: 9, mtime: TIME });
}

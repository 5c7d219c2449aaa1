import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';

/**
 * Creates a folder that only its owner can list. If that is root others may traverse it, because PostgreSQL runs under
 * another account and its data are inside.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** Writes a file that only its owner may read, replacing any other of that name. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}

import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';

/**
 * Makes the folder that holds what must stay private. As root it may be passed through, not read: PostgreSQL
 * runs under another account and its data are inside.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** Writes a file that only its owner may read, also when there was another one of that name. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}

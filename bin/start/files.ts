import { chmodSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/** Returns undefined if another process has the lock. An SQLite lock never outlives its process. */
export function lockFolder(folder: string): Disposable | undefined {
  const path = join(folder, 'lock');
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec('pragma journal_mode = memory; begin exclusive');
    chmodSync(path, 0o600);
    return { [Symbol.dispose]: () => file.close() };
  } catch (error) {
    file.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

/** Lets other accounts enter the folder if this process runs as root: PostgreSQL then runs under another account. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

export async function writePrivateFile(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}

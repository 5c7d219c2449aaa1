import { chmodSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Locks the folder for this process; returns undefined if another process holds the lock. This is SQLite's file lock:
 * the operating system releases it however the process ends, so it never goes stale.
 */
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

/**
 * Creates a folder that only its owner can list. If the owner is root, others may still traverse it, since PostgreSQL
 * runs under another account and keeps its data inside.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

export async function writePrivateFile(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}

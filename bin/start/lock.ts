import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Locks the folder for this process; undefined when another process holds the lock. It is SQLite's file lock, which
 * the operating system releases when the process ends, however it ends, so it never goes stale.
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

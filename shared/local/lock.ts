import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Makes this process the only one that works in the folder; undefined when another one does. The lock is
 * SQLite's file lock: the operating system drops it with the process, whatever ends that, so none goes stale.
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

import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4e9;

/**
 * A new folder for the data of a throwaway server: in memory where there is enough of it, because a database of some 600 files
 * is made thirty times as fast there as on a disk with a journal.
 */
export async function scratchFolder(prefix: string): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined);
  const isEnough = room !== undefined && room.bavail * room.bsize > ENOUGH_BYTES;
  return mkdtemp(join(isEnough ? MEMORY : tmpdir(), prefix));
}

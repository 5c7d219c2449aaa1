import { readFile } from 'node:fs/promises';

/** Linux counts in these. */
const TICK_MS = 10;

/** Milliseconds of CPU time that a process has used. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the name, which may have spaces: from the third field on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return TICK_MS * (Number(fields[11]) + Number(fields[12]));
}

import { readFile } from 'node:fs/promises';

/** Length of the ticks in which Linux counts CPU time. */
const TICK_MS = 10;

export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field, the process's name, may contain spaces, so `fields` begins after it, with the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return TICK_MS * (Number(fields[11]) + Number(fields[12]));
}

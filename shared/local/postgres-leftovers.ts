import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateOf } from './postgres-connection.ts';
import type { PostgresHome } from './postgres-home.ts';
import { run } from './run.ts';

/** How long a server that is said to run may be unreachable before its postmaster.pid counts as stale. */
const SILENCE_MS = 3000;

/** Ends whatever a server before ours left running on these data, which admit one server at a time. */
export async function clearLeftovers(home: PostgresHome, password: string): Promise<void> {
  await stopOtherServer(home, password);
  await killOrphans(home);
}

/** The server of a killed process, or one that somebody else started. It may first have to finish a recovery. */
async function stopOtherServer(home: PostgresHome, password: string): Promise<void> {
  let heardAt = Date.now();
  for (;;) {
    const port = await runningPort(home);
    if (port === undefined) return;
    const state = await stateOf({ port, password });
    if (state !== 'unreachable') heardAt = Date.now();
    if (state === 'up') await stopRunning(home);
    // After a crash, above all in a container, another process may have got the id in postmaster.pid, and
    // PostgreSQL would wait for it for ever. It still refuses a second server on data that are in use.
    if (Date.now() - heardAt > SILENCE_MS) await rm(join(home.data, 'postmaster.pid'), { force: true });
    await sleep(50);
  }
}

/** Stops the server that runs on these data, if there is one, whoever started it. */
export async function stopRunning(home: PostgresHome): Promise<void> {
  if ((await runningPort(home)) === undefined) return;
  const args = ['stop', '-m', 'fast', '-w', '-t', '60', '-D', home.data];
  const stop = await run(home.programs.pg_ctl, args, home.account);
  if (!stop.ok && (await runningPort(home)) !== undefined)
    throw new Error(`PostgreSQL did not stop: ${stop.output}`);
}

/** The fourth line of postmaster.pid; 0, where nothing answers, while a starting server has yet to write it. */
async function runningPort({ programs, data, account }: PostgresHome): Promise<number | undefined> {
  const status = await run(programs.pg_ctl, ['status', '-D', data], account);
  const lines = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => undefined);
  // A crash of the machine can leave the file empty, for which pg_ctl has no answer.
  if (lines === undefined || (!status.ok && lines !== '')) return undefined;
  return Number(lines.split('\n')[3] ?? 0);
}

/**
 * A process of a killed server notices that only between two statements, and until then no other server may use
 * the data. Where there is no `/proc` we wait until its statement is over: each further start tries again.
 */
async function killOrphans({ clusterName }: PostgresHome): Promise<void> {
  const processes = await readdir('/proc').catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!title.startsWith(`postgres: ${clusterName}: `)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself in between.
    }
  }
}

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { stateOf } from './postgres-connection.ts';
import type { PostgresHome } from './postgres-home.ts';
import { run } from './run.ts';

/** A server that is unreachable for this long although its postmaster.pid exists is gone: the file is stale. */
const SILENCE_MS = 3000;

/** Stops whatever still runs on these data: a data directory allows one server at a time. */
export async function clearLeftovers(home: PostgresHome, password: string): Promise<void> {
  await stopOtherServer(home, password);
  await killOrphans(home);
}

/** Stops the server of a killed process, or one that somebody else started; it may have to finish a recovery first. */
async function stopOtherServer(home: PostgresHome, password: string): Promise<void> {
  let heardAt = Date.now();
  for (;;) {
    const port = await runningPort(home);
    if (port === undefined) return;
    const state = await stateOf({ port, password });
    if (state !== 'unreachable') heardAt = Date.now();
    if (state === 'up') await stopRunning(home);
    // After a crash, above all in a container, another process may have the id in postmaster.pid, and PostgreSQL would
    // wait for it without end. Without the file it still refuses to start a second server on data that are in use.
    if (Date.now() - heardAt > SILENCE_MS) await rm(join(home.data, 'postmaster.pid'), { force: true });
    await sleep(50);
  }
}

/** Stops the server on these data, if one runs, whoever started it. */
export async function stopRunning(home: PostgresHome): Promise<void> {
  if ((await runningPort(home)) === undefined) return;
  const args = ['stop', '-m', 'fast', '-w', '-t', `${STOP_LIMITS.postgres / 1000}`, '-D', home.data];
  const stop = await run(home.programs.pg_ctl, args, home.account);
  if (!stop.ok && (await runningPort(home)) !== undefined)
    throw new Error(`PostgreSQL did not stop: ${stop.output}`);
}

/** The fourth line of postmaster.pid; 0, where nothing answers, until a starting server has written it. */
async function runningPort({ programs, data, account }: PostgresHome): Promise<number | undefined> {
  const status = await run(programs.pg_ctl, ['status', '-D', data], account);
  const lines = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => undefined);
  // A crash of the machine can leave the file empty, which pg_ctl does not handle.
  if (lines === undefined || (!status.ok && lines !== '')) return undefined;
  return Number(lines.split('\n')[3] ?? 0);
}

/**
 * Backends of a killed server notice its end only between statements, and block the data until then. Without `/proc`
 * (on macOS and Windows) they cannot be found: starts fail, and are retried, until their statements are over.
 */
async function killOrphans({ clusterName }: PostgresHome): Promise<void> {
  const processes = await readdir('/proc').catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!title.startsWith(`postgres: ${clusterName}: `)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../../../shared/text/visible.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { poolReader } from '../../../shared/work/pool-load.ts';
import { explain } from '../admin-error.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { table } from '../text.ts';

const REDRAW_INTERVAL_MS = 1000;
const CLEAR_SCREEN = '\x1b[H\x1b[2J';

export const top = command({
  summary: 'Watch the pools; with --json, or where there is no terminal, show them once',
  read(values) {
    const isLive = process.stdout.isTTY && !('json' in values);
    return isLive ? watch : showOnce;
  },
});

type ReadPools = ReturnType<typeof poolReader>;

async function outcomeOf(readPools: ReadPools): Promise<Outcome> {
  const pools = (await readPools()).map(({ pool, queued, oldestMs, running, slots, workers, ...rest }) => ({
    pool,
    state: rest.pausedAt === null ? 'open' : 'paused',
    waiting: queued,
    oldest_s: Math.round(oldestMs / 100) / 10,
    running,
    slots,
    workers,
    rate_per_s: Math.round(10 * (rest.rate ?? 0)) / 10,
  }));
  const columns = ['pool', 'state', 'waiting', 'oldest_s', 'running', 'slots', 'workers', 'rate_per_s'];
  return { data: { pools }, text: table<Record<string, unknown>>(pools, columns) };
}

async function showOnce({ database }: Admin): Promise<Outcome> {
  const readPools = poolReader(database.pool, kinds);
  await readPools();
  await sleep(REDRAW_INTERVAL_MS);
  return outcomeOf(readPools);
}

/** Redraws the pools until Ctrl-C, even through a database outage. */
async function watch({ database }: Admin): Promise<Outcome> {
  const stopping = new AbortController();
  // Uses `on`, not `once`: npm passes Ctrl-C on to a process that already got it from the terminal.
  process.on('SIGINT', () => stopping.abort());
  const readPools = poolReader(database.pool, kinds);
  let outcome: Outcome = { data: {}, text: '' };
  while (!stopping.signal.aborted) {
    outcome = await outcomeOf(readPools).catch((error: unknown) => ({ data: {}, text: explain(error) }));
    process.stdout.write(CLEAR_SCREEN);
    print(`${outcome.text}\n\n${new Date().toISOString()}, Ctrl-C ends\n`);
    await sleep(REDRAW_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
  }
  process.stdout.write(CLEAR_SCREEN);
  return outcome;
}

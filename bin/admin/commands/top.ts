import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { POOLS } from '../../../shared/config/config.ts';
import { readLoad } from '../../../shared/db/stores/work/load.ts';
import { readPoolStates } from '../../../shared/db/stores/work/operate.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { poolLoad } from '../../../shared/work/pool-load.ts';
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

/** The pools at one moment. `claimed` counts the work items that the pool's current workers have claimed so far. */
interface PoolsReading {
  at: number;
  pools: { pool: string; state: string; claimed: number; [column: string]: string | number }[];
}

async function readPools(pool: Pool): Promise<PoolsReading> {
  const all = Object.values(kinds);
  const [rows, states] = await Promise.all([readLoad(pool, all), readPoolStates(pool, POOLS)]);
  const pools = POOLS.map((name) => {
    const ownRows = rows.filter(({ kind }) => all.some((one) => one.name === kind && one.pool === name));
    const { queued, running, oldestMs, workers, slots } = poolLoad(ownRows);
    const isPaused = states.some((state) => state.pool === name && state.pausedAt !== null);
    return {
      pool: name,
      state: isPaused ? 'paused' : 'open',
      waiting: queued,
      oldest_s: Math.round(oldestMs / 100) / 10,
      running,
      slots,
      workers,
      claimed: ownRows[0]?.claimed ?? 0,
    };
  });
  return { at: performance.now(), pools };
}

/** Adds each pool's claims per second. Claims of a worker that has ended are not counted. */
function outcomeBetween(before: PoolsReading, now: PoolsReading): Outcome {
  // For the first reading, both arguments are the same.
  const seconds = Math.max(1, now.at - before.at) / 1000;
  const pools = now.pools.map(({ claimed, ...shown }) => {
    const earlier = before.pools.find(({ pool }) => pool === shown.pool)?.claimed ?? claimed;
    return { ...shown, rate_per_s: Math.round((10 * Math.max(0, claimed - earlier)) / seconds) / 10 };
  });
  const columns = ['pool', 'state', 'waiting', 'oldest_s', 'running', 'slots', 'workers', 'rate_per_s'];
  return { data: { pools }, text: table<Record<string, unknown>>(pools, columns) };
}

async function showOnce({ database }: Admin): Promise<Outcome> {
  const before = await readPools(database.pool);
  await sleep(REDRAW_INTERVAL_MS);
  return outcomeBetween(before, await readPools(database.pool));
}

/** Redraws the pools until Ctrl-C, even through a database outage. */
async function watch({ database }: Admin): Promise<Outcome> {
  const stopping = new AbortController();
  // Uses `on`, not `once`: npm passes Ctrl-C on to a process that already got it from the terminal.
  process.on('SIGINT', () => stopping.abort());
  let outcome: Outcome = { data: {}, text: '' };
  for (let before: PoolsReading | undefined; !stopping.signal.aborted; ) {
    try {
      const now = await readPools(database.pool);
      outcome = outcomeBetween(before ?? now, now);
      before = now;
    } catch (error) {
      outcome = { data: {}, text: explain(error) };
    }
    process.stdout.write(`${CLEAR_SCREEN}${outcome.text}\n\n${new Date().toISOString()}, Ctrl-C ends\n`);
    await sleep(REDRAW_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
  }
  process.stdout.write(CLEAR_SCREEN);
  return outcome;
}

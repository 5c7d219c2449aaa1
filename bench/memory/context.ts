import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { newId } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { percentile } from '../../test/support/keep-alive-client.ts';
import { Corpus } from './corpus.ts';
import { openMemory } from './database.ts';
import { store } from './history.ts';

/**
 * Measures how long a context takes, in the database and in total, for accounts of three sizes among many others. The
 * CPU time of a call is its time on an idle machine, since all data are in memory.
 */
const { values: options } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000' },
    samples: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
  },
});

const SIZES = [
  { raw: 1000, episodes: 100, facts: 100 },
  { raw: 10_000, episodes: 1000, facts: 1000 },
  { raw: 100_000, episodes: 10_000, facts: 10_000 },
];
const DAYS = 14;
const WINDOWS = { 'an hour': 60, 'a week': 10_080, ever: null };

/** Runs the query of `assembleContext` without sending the rows. */
const IN_DATABASE = {
  name: 'context_in_database',
  text: 'select length(memory_context_v1($1, $2, null, null, null, $3, $4, $5, $6, 262144)::text) as length',
};

/** Times of the calls of one size and window, in milliseconds. */
interface CallTimes {
  /** CPU time of the PostgreSQL backend. */
  cpu: number[];
  database: number[];
  /** Time until the context is assembled, from a second call. */
  altogether: number[];
}

const emptyTimes = (): CallTimes => ({ cpu: [], database: [], altogether: [] });

async function cpuNanoseconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '');
  return Number.parseInt(stat, 10);
}

async function measure(
  { pool, em }: { pool: Pool; em: () => EntityManager },
  pid: number,
  account: string,
  query: string,
  minutes: number | null,
  into: CallTimes,
) {
  const { recencyMinutes: _, ...limits } = CONTEXT_DEFAULTS;
  const { maxFacts, maxEpisodes, maxRaw } = limits;
  const cpu = await cpuNanoseconds(pid);
  const since = performance.now();
  await pool.query({ ...IN_DATABASE, values: [account, query, minutes, maxFacts, maxEpisodes, maxRaw] });
  const between = performance.now();
  into.cpu.push(((await cpuNanoseconds(pid)) - cpu) / 1e6);
  into.database.push(between - since);
  const assemblyStart = performance.now();
  await assembleContext(em(), account, { ...limits, query, recencyMinutes: minutes });
  into.altogether.push(performance.now() - assemblyStart);
}

async function run(): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const { pool, em, filler, server } = await openMemory(resources);
  const corpus = new Corpus(Number(options.seed));
  const measuredAccounts = SIZES.map((size) => ({ account: newId(), ...size }));
  const otherAccounts = Array.from({ length: Number(options.accounts) - SIZES.length }, () => {
    return { account: newId(), raw: 100, episodes: 10, facts: 10 };
  });
  const allAccounts = [...measuredAccounts, ...otherAccounts];
  const rowsOfTier = (name: 'raw' | 'episodes' | 'facts', words?: number) =>
    corpus.shuffle(
      allAccounts.flatMap((one) =>
        Array.from({ length: one[name] }, () => ({ account: one.account, text: corpus.sentence(words) })),
      ),
    );
  const accounts = allAccounts.map(({ account }) => account);
  await store(
    filler,
    { accounts, facts: rowsOfTier('facts'), episodes: rowsOfTier('episodes', 40), raw: rowsOfTier('raw') },
    DAYS,
  );

  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  const times = measuredAccounts.map(() => Object.keys(WINDOWS).map(emptyTimes));
  for (let n = -20; n < Number(options.samples); n += 1) {
    const { question } = corpus.pair('the same words');
    for (const [size, { account }] of measuredAccounts.entries())
      for (const [place, minutes] of Object.values(WINDOWS).entries()) {
        const into = times[size]?.[place];
        // The first calls plan the statements.
        if (into !== undefined)
          await measure({ pool, em }, pid, account, question, minutes, n < 0 ? emptyTimes() : into);
      }
  }
  return [
    `${server}; ${options.accounts} accounts, ${options.samples} questions, seed ${options.seed}, ` +
      `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores; milliseconds`,
    '    raw  episodes  facts  window     cpu p50    p95  database p50    p95  altogether p50    p95',
    ...measuredAccounts.flatMap(({ raw, episodes, facts }, size) =>
      Object.keys(WINDOWS).map((window, place) => {
        const { cpu, database, altogether } = times[size]?.[place] ?? emptyTimes();
        return (
          `${String(raw).padStart(7)}${String(episodes).padStart(10)}${String(facts).padStart(7)}  ${window.padEnd(9)}` +
          `${medianAndP95(cpu, 9)}${medianAndP95(database, 14)}${medianAndP95(altogether, 16)}`
        );
      }),
    ),
  ];
}

function medianAndP95(values: number[], width: number): string {
  const [median, p95] = [0.5, 0.95].map((at) => percentile(values, at).toFixed(1));
  return `${median?.padStart(width)}${p95?.padStart(7)}`;
}

process.stdout.write(`${(await run()).join('\n')}\n`);

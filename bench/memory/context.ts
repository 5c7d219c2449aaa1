import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { percentile } from '../../test/support/keep-alive-client.ts';
import { Corpus } from './corpus.ts';
import { openMemory } from './database.ts';
import { newAccount, store } from './history.ts';

/**
 * How long a context takes in the database, and altogether, of accounts of three sizes among many others, whose calls
 * alternate. Half of the raw rows and episodes of each lie in the widest window.
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
const WINDOWS = { 'an hour': 60, 'a week': 10_080 };

/** As `assembleContext` asks, without sending the rows. */
const IN_DATABASE = {
  name: 'context_in_database',
  text: 'select length(memory_context_v1($1, $2, null, null, $3, $4, $5, $6)::text) as length',
};

/** What the calls of one size and window took, in milliseconds. */
interface Took {
  database: number[];
  altogether: number[];
}

async function measure(
  pool: Pool,
  account: string,
  query: string,
  minutes: number,
  took: Took,
): Promise<void> {
  const { recencyMinutes: _, ...limits } = CONTEXT_DEFAULTS;
  const { maxFacts, maxEpisodes, maxRaw } = limits;
  const since = performance.now();
  await pool.query({ ...IN_DATABASE, values: [account, query, minutes, maxFacts, maxEpisodes, maxRaw] });
  const between = performance.now();
  await assembleContext(pool, account, { ...limits, query, recencyMinutes: minutes });
  took.database.push(between - since);
  took.altogether.push(performance.now() - between);
}

async function run(): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const { pool, server } = await openMemory(resources);
  const corpus = new Corpus(Number(options.seed));
  const measured = SIZES.map((size) => ({ account: newAccount(), ...size }));
  const others = Array.from({ length: Number(options.accounts) - SIZES.length }, () => {
    return { account: newAccount(), raw: 100, episodes: 10, facts: 10 };
  });
  const all = [...measured, ...others];
  const tier = (name: 'raw' | 'episodes' | 'facts', words?: number) =>
    corpus.shuffled(
      all.flatMap((one) =>
        Array.from({ length: one[name] }, () => ({ account: one.account, text: corpus.sentence(words) })),
      ),
    );
  const accounts = all.map(({ account }) => account);
  await store(
    pool,
    { accounts, facts: tier('facts'), episodes: tier('episodes', 40), raw: tier('raw') },
    DAYS,
  );

  const took = measured.map(() => Object.keys(WINDOWS).map((): Took => ({ database: [], altogether: [] })));
  for (let n = -20; n < Number(options.samples); n += 1) {
    const { question } = corpus.pair('the same words');
    for (const [size, { account }] of measured.entries())
      for (const [place, minutes] of Object.values(WINDOWS).entries()) {
        const into = took[size]?.[place];
        if (into === undefined) continue;
        // The first calls plan the statements.
        await measure(pool, account, question, minutes, n < 0 ? { database: [], altogether: [] } : into);
      }
  }
  const ms = (values: number[] = [], at: number) => percentile(values, at).toFixed(2).padStart(8);
  return [
    `${server}; ${options.accounts} accounts, ${options.samples} samples, seed ${options.seed}`,
    '    raw  episodes   facts  window     in the database p50     p95   altogether p50     p95',
    ...measured.flatMap(({ raw, episodes, facts }, size) =>
      Object.keys(WINDOWS).map((window, place) => {
        const { database, altogether } = took[size]?.[place] ?? {};
        const head = `${String(raw).padStart(7)}${String(episodes).padStart(10)}${String(facts).padStart(8)}  ${window}`;
        return `${head.padEnd(46)}${ms(database, 0.5)}${ms(database, 0.95)}${ms(altogether, 0.5).padStart(17)}${ms(altogether, 0.95)}`;
      }),
    ),
  ];
}

process.stdout.write(`${(await run()).join('\n')}\n`);

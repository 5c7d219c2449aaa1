import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { newId } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { Corpus, QUESTION_WORDINGS } from './corpus.ts';
import { openMemory } from './database.ts';
import { store } from './history.ts';

/**
 * Measures whether memory finds the one row that answers a question. Generated pairs of a question and its source are
 * hidden at random among the facts and raw rows of one account; half of the sources are facts, half raw rows; five in
 * eight questions repeat the exact words of their source. For comparison, it also measures how often the source is
 * among the latest rows.
 */
const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string', default: '1000' },
    facts: { type: 'string', default: '10000' },
    raw: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});

const CUTS = [10, 40];
/** Days over which the raw rows are spread: just less than `WINDOW_MINUTES`. Facts are spread over a year. */
const DAYS = 6.9;
const WINDOW_MINUTES = 10_080;

type Tier = 'facts' | 'raw';
interface Pair {
  question: string;
  source: string;
  tier: Tier;
  wording: keyof typeof QUESTION_WORDINGS;
}

const WORDINGS = Object.keys(QUESTION_WORDINGS) as (keyof typeof QUESTION_WORDINGS)[];

function pairOf(corpus: Corpus, n: number): Pair {
  const wording =
    WORDINGS[Math.max(0, (Math.floor(n / 2) % (2 * WORDINGS.length)) - WORDINGS.length)] ?? 'the same words';
  return { ...corpus.pair(wording), wording, tier: n % 2 === 0 ? 'facts' : 'raw' };
}

const textsOf = async (em: EntityManager, account: string, { question, tier }: Pair, most: number) => {
  const limits = { ...CONTEXT_DEFAULTS, recencyMinutes: WINDOW_MINUTES, maxFacts: most, maxRaw: most };
  const { facts, raw } = await assembleContext(em, account, { ...limits, query: question });
  return tier === 'facts' ? facts.map(({ text }) => text) : raw.map(({ content }) => content);
};

const share = (found: boolean[]) => `${((100 * found.filter(Boolean).length) / found.length).toFixed(1)} %`;

async function run(): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const { em, filler, server } = await openMemory(resources);
  const corpus = new Corpus(Number(options.seed));
  const account = newId();
  const pairs = Array.from({ length: Number(options.pairs) }, (_, n) => pairOf(corpus, n));
  const tierOf = (tier: Tier, size: number) => {
    const sources = pairs.filter((pair) => pair.tier === tier).map(({ source }) => source);
    const noise = Array.from({ length: size - sources.length }, () => corpus.sentence());
    return corpus.shuffle([...sources, ...noise]).map((text) => ({ account, text }));
  };
  const tiers = { facts: tierOf('facts', Number(options.facts)), raw: tierOf('raw', Number(options.raw)) };
  await store(filler, { accounts: [account], episodes: [], ...tiers }, DAYS);

  const lines = [
    `${server}; ${options.pairs} pairs among ${options.facts} facts and ${options.raw} raw rows, seed ${options.seed}`,
    'rows    of  asked with               context   latest',
  ];
  const line = (most: number | '', tier: string, wording: string, context: string, latest: string) =>
    `${String(most).padStart(4)}  ${tier.padEnd(6)}${wording.padEnd(24)}${context.padStart(9)}${latest.padStart(9)}`;
  for (const tier of ['facts', 'raw'] as const)
    for (const most of CUTS) {
      const tierPairs = pairs.filter((pair) => pair.tier === tier);
      const latest = new Set(tiers[tier].slice(-most).map(({ text }) => text));
      const found = new Map<Pair, boolean>();
      for (const pair of tierPairs)
        found.set(pair, (await textsOf(em(), account, pair, most)).includes(pair.source));
      const recent = share(tierPairs.map(({ source }) => latest.has(source)));
      lines.push(line(most, tier, 'any', share([...found.values()]), recent));
      for (const wording of WORDINGS) {
        const alike = tierPairs.filter((pair) => pair.wording === wording);
        lines.push(line('', '', wording, share(alike.map((pair) => found.get(pair) ?? false)), ''));
      }
    }
  return lines;
}

process.stdout.write(`${(await run()).join('\n')}\n`);

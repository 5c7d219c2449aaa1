import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { type Child, PROFILES, SCRATCH, startChild } from './child.ts';
import { cpuMsOf } from './cpu.ts';
import { hotSpots } from './hot-spots.ts';
import type { Load, Measurement } from './load.ts';
import { measureLong } from './long.ts';
import { type Options, readOptions } from './options.ts';
import { measureQuality } from './quality/main.ts';
import {
  type MeasuredRound,
  machine,
  mapValues,
  type Results,
  resultsText,
  targetResultOf,
} from './results.ts';
import { openPostgres, openRedis } from './stores.ts';
import { table } from './table.ts';
import { startTarget, TARGETS, type Target } from './targets.ts';

const WARM_UP_MS = 300;
/** First load of each target, which compiles the hot paths before anything is measured. */
const FIRST_WARM_UP = { callers: 64, warmUpMs: 0, measureMs: 2000 };

async function run(options: Options): Promise<Results> {
  await using resources = new AsyncDisposableStack();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void resources.disposeAsync().finally(() => process.exit(1)));

  await mkdir(SCRATCH, { recursive: true });
  const before = machine();
  const postgres = resources.use(await openPostgres());
  const redis = resources.use(await openRedis());
  if (redis === undefined) say('no redis-server on this machine: the targets on Redis are left out');
  const provider = resources.use(await startChild('provider', 'bench/provider.ts'));
  const load = resources.use(await startChild('load', 'bench/load.ts'));
  const { seconds, rounds, callers, profile, peers } = options;
  const bench = {
    resources,
    providerUrl: provider.url,
    postgresUrl: postgres.url,
    redisUrl: redis?.url ?? '',
    peers: peers ?? '',
    profile,
  };
  const missing = [redis === undefined && 'redis', peers === undefined && 'peers'];
  const targets: Target[] = [];
  for (const name of options.targets) {
    const { needs } = TARGETS[name];
    if (needs === undefined || !missing.includes(needs)) targets.push(await startTarget(name, bench));
  }

  const cells = await measureAll(targets, load, options);
  return {
    date: new Date().toISOString(),
    command: ['node', 'bench/main.ts', ...process.argv.slice(2)].join(' '),
    machine: before,
    versions: { node: process.versions.node, postgres: postgres.facts, redis: redis?.facts ?? null },
    options: { seconds, rounds, callers, targets: targets.map(({ name }) => name), profile },
    cells,
  };
}

/** Measures every target at every number of callers in turn, round after round, so that noise affects all alike. */
async function measureAll(targets: Target[], load: Child, { callers, rounds, seconds }: Options) {
  for (const target of targets) await measure(load, target, FIRST_WARM_UP);
  const measurements = callers.flatMap((count) =>
    targets.map((target) => ({ target, count, measured: [] as MeasuredRound[] })),
  );
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1} of ${rounds}`);
    // Reverses every other round, so that no target always runs after the same one.
    for (const { target, count, measured } of round % 2 === 0 ? measurements : measurements.toReversed()) {
      const work = { callers: count, warmUpMs: WARM_UP_MS, measureMs: seconds * 1000 };
      measured.push(await measure(load, target, work));
    }
  }
  return measurements.map(({ target, count, measured }) => targetResultOf(target.name, count, measured));
}

async function measure(
  load: Child,
  target: Target,
  work: Omit<Load, 'url' | 'keys'>,
): Promise<MeasuredRound> {
  const before = await cpuOf(target);
  const answer = once(load.process, 'message') as Promise<[Measurement]>;
  load.process.send({ url: target.url, keys: target.keys, ...work } satisfies Load);
  const [measurement] = await answer;
  const { failed, firstFault } = measurement;
  if (failed > 0)
    throw new Error(`${target.name}, ${work.callers} callers: ${failed} calls failed, first: ${firstFault}`);
  const after = await cpuOf(target);
  return {
    ...measurement,
    cpuMs: mapValues(after, (ms, what) => (ms - (before[what] ?? 0)) / measurement.calls),
  };
}

async function cpuOf({ pids }: Target): Promise<Record<string, number>> {
  const entries = Object.entries(pids).map(async ([what, pid]) => [what, await cpuMsOf(pid)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function measureThroughput(): Promise<void> {
  const options = readOptions();
  await rm(PROFILES, { recursive: true, force: true });
  const results = await run(options);
  process.stdout.write(`${table(results)}\n`);
  const folder = options.partial ? SCRATCH : import.meta.dirname;
  await writeFile(join(folder, 'results.json'), resultsText(results));
  await writeFile(join(folder, 'results.svg'), chart(results));
  if (options.profile) {
    for (const file of await readdir(PROFILES)) {
      const spots = await hotSpots(join(PROFILES, file));
      process.stdout.write(`\n${file}: share of its CPU time\n${spots.join('\n')}\n`);
    }
  }
  if (options.long) await measureLong();
}

if (process.argv[2] === 'quality') {
  process.argv.splice(2, 1);
  await measureQuality();
} else await measureThroughput();

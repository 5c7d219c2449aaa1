import { parseArgs } from 'node:util';
import pg from 'pg';
import { insertAppAndWorker, runPass } from '../test/support/common-path.ts';
import { install } from './installation.ts';
import { openPostgres } from './stores.ts';

/**
 * Measures how many predictions per second one PostgreSQL admits, claims, completes and reads, without HTTP, queue or
 * provider. Each loop runs batches on its own connection; all loops share one app, or each has its own.
 */
const { values: options } = parseArgs({
  options: {
    batch: { type: 'string', default: '1,10,100' },
    loops: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
  },
});

const WARM_UP_MS = 1000;
const LOOPS = Number(options.loops);

async function measure(url: string, apps: number, size: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: LOOPS });
  const appsAndWorkers = await Promise.all(Array.from({ length: apps }, () => insertAppAndWorker(pool)));
  const since = performance.now() + WARM_UP_MS;
  const until = since + 1000 * Number(options.seconds);
  let endedCount = 0;
  const loop = async (n: number) => {
    const appAndWorker = appsAndWorkers[n % apps];
    if (appAndWorker === undefined) throw new Error('no app');
    while (performance.now() < until) {
      const pass = await runPass(pool, appAndWorker, size);
      if (performance.now() > since) endedCount += pass.ended;
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, (_, n) => loop(n)));
  await pool.end();
  return Math.round((1000 * endedCount) / (performance.now() - since));
}

await using postgres = await openPostgres();
await using installation = await install(postgres.url, 'forecue-ceiling');
for (const size of options.batch.split(',').map(Number))
  for (const apps of [1, LOOPS]) {
    const perSecond = await measure(installation.databaseUrl, apps, size);
    process.stdout.write(
      `${JSON.stringify({ apps, batch: size, loops: LOOPS, perSecond, ...postgres.facts })}\n`,
    );
  }

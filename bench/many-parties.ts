import { parseArgs } from 'node:util';
import pg, { type Pool } from 'pg';
import { claim, queuedFlows } from '../shared/db/stores/work/claim.ts';
import { findAbandonedWork, findOverdueWork, mayHaveDiedWithin } from '../shared/db/stores/work/repair.ts';
import { kinds } from '../shared/work/kinds.ts';
import { setUp } from '../test/setup.ts';
import { claimTerms, insertAppAndWorker, queueWork } from '../test/support/common-path.ts';
import { createDatabase } from '../test/support/database.ts';
import { percentile } from '../test/support/keep-alive-client.ts';

/**
 * By hand: measures the time of admissions, claims and queue reads in the database while `--parties` parties have work
 * queued, besides `--parts` queued parts of batches. Exits with 1 if a p95 with the most parties is more than twice the
 * p95 with the fewest.
 */
const { values: options } = parseArgs({
  options: {
    parties: { type: 'string', default: '10,1000,10000,50000' },
    parts: { type: 'string', default: '1000000' },
    samples: { type: 'string', default: '400' },
  },
});
const WORST_RATIO = 2;
/** Number of pieces that a worker with eight free slots asks for. */
const ASKED_SLOTS = 8;
const KIND_NAMES = Object.keys(kinds);

async function fill(pool: Pool, kind: string, parties: readonly string[], count: number): Promise<void> {
  for (let from = 0; from < count; from += 100_000)
    await pool.query(
      `insert into work (
         id, kind, party, key, state, attempt, admission, fingerprint, supersedable, waiters, detached_at,
         cancel_on_disconnect, admitted_at, queued_at, deadline_at, facts, input)
       select gen_random_uuid(), $1, ($2::uuid[])[1 + n % $3], gen_random_uuid(), 'queued', 1, gen_random_uuid(), '', false,
              '{}', 'infinity', false, now(), clock_timestamp(), now() + interval '1 hour' + n * interval '1 ms', '{}', ''
         from generate_series($4::int, $5::int) n`,
      [kind, parties, parties.length, from, Math.min(from + 100_000, count) - 1],
    );
}

async function measureParties(parties: number): Promise<Map<string, number>> {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  try {
    const appAndWorker = await insertAppAndWorker(pool);
    const ids = (await pool.query(`select gen_random_uuid() as id from generate_series(1, $1)`, [parties]))
      .rows;
    const names = ids.map(({ id }) => id as string);
    await fill(pool, 'batch_reply', names, Number(options.parts));
    await fill(pool, 'predict', names, 2 * parties);
    await pool.query('vacuum analyze work');
    await pool.query('checkpoint');
    const samples = Number(options.samples);
    const times = new Map<string, number[]>();
    const measure = async (name: string, work: () => Promise<unknown>) => {
      const since = performance.now();
      await work();
      times.set(name, [...(times.get(name) ?? []), performance.now() - since]);
    };
    for (let n = 0; n < samples; n += 1) {
      const asks = Array.from({ length: ASKED_SLOTS }, (_, k) => ({
        kind: 'predict',
        party: names[(n * ASKED_SLOTS + k) % names.length] as string,
        count: 1,
        sinceMs: null,
      }));
      await measure('admission', () => queueWork(pool, appAndWorker, 1));
      await measure('claim', () => claim(pool, claimTerms(appAndWorker.processId, asks)));
      await measure('look, by each worker', () => queuedFlows(pool, KIND_NAMES));
      await measure('repair', async () => {
        for await (const _ of findOverdueWork(pool, KIND_NAMES, 60_000));
        await findAbandonedWork(pool, ['predict'], 60_000);
        await mayHaveDiedWithin(pool, 10_000, appAndWorker.processId);
      });
    }
    return new Map([...times].map(([name, all]) => [name, percentile(all, 0.95)]));
  } finally {
    await pool.end();
    await database.drop();
  }
}

await using _ = await setUp();
const counts = options.parties.split(',').map(Number);
const rows = new Map<string, number[]>();
for (const count of counts) {
  for (const [name, p95] of await measureParties(count)) rows.set(name, [...(rows.get(name) ?? []), p95]);
  process.stdout.write(`measured with ${count} parties\n`);
}
process.stdout.write(`p95, ms, with ${counts.join(', ')} parties and ${options.parts} queued parts\n`);
for (const [name, all] of rows) {
  const ratio = (all.at(-1) ?? 0) / (all[0] ?? 1);
  process.stdout.write(`${name}: ${all.map((ms) => ms.toFixed(2)).join(', ')} (${ratio.toFixed(2)} x)\n`);
  if (ratio > WORST_RATIO) process.exitCode = 1;
}

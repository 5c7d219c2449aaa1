import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import pg from 'pg';
import { eraseAnswers } from '../shared/db/stores/work/forget.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../test/setup.ts';
import {
  type AppAndWorker,
  insertAppAndWorker,
  runPass,
  STEPS,
  type StepTimes,
  TEXT,
  WINDOW_S,
} from '../test/support/common-path.ts';
import { createDatabase, type TestDatabase } from '../test/support/database.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { makePastWeeks } from '../test/support/past-weeks.ts';

/**
 * By hand: fills one of two databases with `--rows` of history, then with `--admissions` admissions in batches of
 * `--batch`; measures the statements of the hot path on both; then measures how many rows erasing reads while answers
 * expire as fast as they come. Exits with 1 if a median is more than 1.3 times as long on the full database, a batch
 * takes a second longer than the usual one, or erasing reads more than twice what it deletes.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    admissions: { type: 'string', default: '0' },
    batch: { type: 'string', default: '50' },
    samples: { type: 'string', default: '2000' },
  },
});

const WORST_RATIO = 1.3;
const ROWS_PER_INSERT = 500_000;
const PER_SECOND = 200;
const ERASE_EVERY_S = 5;

/** Returns the times of one batch that runs alone; all of its work must end. */
async function passAlone({ pool, appAndWorker }: MeasuredDatabase, size: number): Promise<StepTimes> {
  const { took, ended } = await runPass(pool, appAndWorker, size);
  if (ended !== size) throw new Error('a pass lost work');
  return took;
}

/** The databases take turns, so that the machine's noise is the same for both. */
async function medians(both: readonly MeasuredDatabase[], samples: number): Promise<StepTimes[]> {
  const passes = both.map((): StepTimes[] => []);
  for (let n = 0; n < samples; n += 1)
    for (const [which, one] of both.entries()) passes[which]?.push(await passAlone(one, 1));
  return passes.map(
    (ofOne) =>
      Object.fromEntries(
        STEPS.map((step) => {
          const times = ofOne.map((one) => one[step]);
          return [step, percentile(times, 0.5)];
        }),
      ) as StepTimes,
  );
}

async function fill(pool: Pool, rows: number): Promise<void> {
  await makePastWeeks(pool);
  for (let filled = 0; filled < rows; filled += ROWS_PER_INSERT) {
    await pool.query(
      `insert into history (
         id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, started_at, ended_at, expires_at,
         month, plan, price_microcents, units, facts, report)
       select gen_random_uuid(), 'predict', gen_random_uuid(), gen_random_uuid(), decode(repeat('00', 32), 'hex'),
              'suggested', 1, gen_random_uuid(), t, t, t, t + interval '10 minutes', month_of(t), 'paid', 200000, 1,
              '{"requestId":"of-the-history","userId":"user","sessionId":"session"}', '{}'
         from (select now() - random() * interval '34 days' as t from generate_series(1, $1)) g`,
      [Math.min(ROWS_PER_INSERT, rows - filled)],
    );
    process.stderr.write(`\r${filled + ROWS_PER_INSERT} rows of history`);
  }
  process.stderr.write('\n');
  await pool.query('vacuum analyze');
}

/** Admits this many predictions in batches. Returns the time of the slowest batch, and the median as the usual time. */
async function admitMany(
  opened: MeasuredDatabase,
  admissions: number,
): Promise<{ usualMs: number; slowestMs: number } | undefined> {
  if (admissions === 0) return undefined;
  const size = Number(options.batch);
  const took: number[] = [];
  for (let n = 0; n < admissions; n += size) {
    took.push((await passAlone(opened, size)).admit);
    if (n % (size * 1000) === 0) process.stderr.write(`\r${n} admissions`);
  }
  process.stderr.write('\n');
  return { usualMs: percentile(took, 0.5), slowestMs: took.reduce((a, b) => Math.max(a, b), 0) };
}

/** Adds and expires answers at the same rate, in rounds. Returns how many rows erasing read, and how many it erased. */
async function measureErasing(pool: Pool): Promise<{ read: number; erased: number }> {
  const add = (fromS: number, seconds: number) =>
    pool.query(
      `insert into answers (id, answer, expires_at)
       select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid,
              $3, t + make_interval(secs => ${WINDOW_S})
         from (select now() + make_interval(secs => $1::float8 + g / ${PER_SECOND}.0) as t
                 from generate_series(1, ($2::float8 * ${PER_SECOND})::int) g) g`,
      [fromS, seconds, TEXT.slice(0, 200)],
    );
  const counters = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ read: string; erased: string }>(
      `select seq_tup_read + idx_tup_fetch as read, n_tup_del as erased from pg_stat_user_tables where relname = 'answers'`,
    );
    return { read: Number(rows[0]?.read), erased: Number(rows[0]?.erased) };
  };
  await pool.query('delete from answers');
  await add(-WINDOW_S, WINDOW_S);
  await eraseAnswers(pool, WINDOW_S);
  const rounds = { read: 0, erased: 0 };
  for (let round = 1; round <= 20; round += 1) {
    // Ages all answers by five seconds, so that the oldest expire.
    await pool.query(`update answers set expires_at = expires_at - make_interval(secs => ${ERASE_EVERY_S}),
      id = (lpad(to_hex(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - ${1000 * ERASE_EVERY_S}), 12, '0')
            || right(replace(id::text, '-', ''), 20))::uuid`);
    await add(-ERASE_EVERY_S, ERASE_EVERY_S);
    const before = await counters();
    await eraseAnswers(pool, WINDOW_S);
    const after = await counters();
    rounds.read += after.read - before.read;
    rounds.erased += after.erased - before.erased;
  }
  return rounds;
}

interface MeasuredDatabase {
  database: TestDatabase;
  pool: Pool;
  appAndWorker: AppAndWorker;
}

/**
 * Opens a database with one app. Its pool has a single connection, which keeps the plans that statements got while the
 * database was empty.
 */
async function open(): Promise<MeasuredDatabase> {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  return { database, pool, appAndWorker: await insertAppAndWorker(pool) };
}

await mochaGlobalSetup();
const [small, large] = [await open(), await open()];
try {
  const samples = Number(options.samples);
  const both = [small, large];
  await medians(both, samples / 10);
  await fill(large.pool, Number(options.rows));
  const admissionTimes = await admitMany(large, Number(options.admissions));
  await large.pool.query('checkpoint');
  const [empty, full] = (await medians(both, samples)) as [StepTimes, StepTimes];
  const ratios = Object.fromEntries(STEPS.map((step) => [step, full[step] / empty[step]]));
  const erasing = await measureErasing(large.pool);
  const [machineLoad] = loadavg();
  process.stdout.write(
    `${JSON.stringify({ empty, full, ratios, worst: WORST_RATIO, many: admissionTimes, erasing, machineLoad }, undefined, 2)}\n`,
  );
  const isKept =
    Math.max(...Object.values(ratios)) <= WORST_RATIO &&
    (admissionTimes === undefined || admissionTimes.slowestMs < admissionTimes.usualMs + 1000) &&
    erasing.read <= 2 * erasing.erased;
  process.exitCode = isKept ? 0 : 1;
} finally {
  for (const { database, pool } of [small, large]) {
    await pool.end();
    await database.drop();
  }
  await mochaGlobalTeardown();
}

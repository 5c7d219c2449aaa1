import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import pg from 'pg';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import { claim } from '../../shared/db/stores/work/claim.ts';
import { complete } from '../../shared/db/stores/work/complete.ts';
import { eraseAnswers } from '../../shared/db/stores/work/forget.ts';
import { outcomesOf } from '../../shared/db/stores/work/outcomes.ts';
import { requestKey } from '../../shared/domain/work.ts';
import { newId } from '../../shared/ids.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { percentile } from '../support/keep-alive-client.ts';

/**
 * By hand: the statements of the common path on an empty database and, in turn, on one with `--rows` of history; then
 * `--admissions` more in batches of `--batch`; then what erasing reads while as many answers expire as come. 1 when a
 * median is more than 1.3 times as long, a batch takes a second longer than the usual one, or erasing reads more than
 * twice what it deletes.
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
const WINDOW_S = 600;
const FILLED_AT_ONCE = 500_000;
const PER_SECOND = 200;
const ERASE_EVERY_S = 5;
const KINDS = ['predict'];
const TEXT = 'x'.repeat(1400);
const PROCESS = newId();
const PARTY = newId();

const STEPS = ['admit', 'claim', 'complete', 'outcome'] as const;
type Took = Record<(typeof STEPS)[number], number>;

function admission(): Admission {
  const requestId = newId();
  return {
    id: newId(),
    kind: 'predict',
    party: PARTY,
    requestId,
    key: requestKey('predict', PARTY, requestId),
    fingerprint: randomBytes(32),
    userId: 'user',
    connectionId: null,
    line: { key: newId(), sessionId: requestId, revision: 1, textHash: randomBytes(32), supersedable: true },
    wait: false,
    cancelOnDisconnect: false,
    overloaded: false,
    facts: { requestId },
    input: TEXT,
  };
}

/** Admits, claims, completes and reads a batch; milliseconds of each step. */
async function pass(pool: Pool, size: number): Promise<Took> {
  const took: number[] = [];
  const timed = async <T>(work: Promise<T>) => {
    const since = performance.now();
    const result = await work;
    took.push(performance.now() - since);
    return result;
  };
  const batch = Array.from({ length: size }, admission);
  await timed(
    admit(pool, batch, {
      kind: 'predict',
      kinds: KINDS,
      process: PROCESS,
      timeoutMs: 60_000,
      recoveryWindowS: WINDOW_S,
      step: 1000,
      outlivesCallers: false,
      sandboxUnits: 2_000_000_000,
      unitPriceMicrocents: 200_000,
    }),
  );
  const room = { slots: size, ofServed: new Map(), ofOthers: size };
  const { claims } = await timed(claim(pool, { names: KINDS, oneAtATime: [] }, PROCESS, room));
  const done = await timed(
    complete(
      pool,
      claims.map(({ id, party, month, attempt }) => ({
        ...{ id, party, month, guard: 'attempt', attempt, worker: PROCESS },
        ...{ state: 'suggested', settle: true, answer: TEXT.slice(0, 200), report: {} },
      })),
      WINDOW_S,
    ),
  );
  const outcomes = await timed(
    outcomesOf(
      pool,
      batch.map(({ key }) => key),
    ),
  );
  if (outcomes.length !== size || done.includes(false)) throw new Error('a pass lost work');
  return Object.fromEntries(STEPS.map((step, n) => [step, took[n]])) as Took;
}

/** The median of each step in each database, which take turns so that the machine's noise is the same for both. */
async function medians(pools: readonly Pool[], samples: number): Promise<Took[]> {
  const passes = pools.map((): Took[] => []);
  for (let n = 0; n < samples; n += 1)
    for (const [which, pool] of pools.entries()) passes[which]?.push(await pass(pool, 1));
  return passes.map(
    (ofOne) =>
      Object.fromEntries(
        STEPS.map((step) => {
          const times = ofOne.map((one) => one[step]);
          return [step, percentile(times, 0.5)];
        }),
      ) as Took,
  );
}

/** History of many apps, over the last five weeks. */
async function fill(pool: Pool, rows: number): Promise<void> {
  await pool.query('select make_weeks_v1(5)');
  for (let filled = 0; filled < rows; filled += FILLED_AT_ONCE) {
    await pool.query(
      `insert into history (
         id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, started_at, ended_at, expires_at,
         month, plan, price_microcents, units, facts, report)
       select gen_random_uuid(), 'predict', gen_random_uuid(), gen_random_uuid(), decode(repeat('00', 32), 'hex'),
              'suggested', 1, gen_random_uuid(), t, t, t, t + interval '10 minutes', month_of(t), 'paid', 200000, 1,
              '{"requestId":"of-the-history","userId":"user","sessionId":"session"}', '{}'
         from (select now() - random() * interval '34 days' as t from generate_series(1, $1)) g`,
      [Math.min(FILLED_AT_ONCE, rows - filled)],
    );
    process.stderr.write(`\r${filled + FILLED_AT_ONCE} rows of history`);
  }
  process.stderr.write('\n');
  await pool.query('vacuum analyze');
}

/** The slowest batch and a usual one, of so many admissions in all. */
async function admitMany(
  pool: Pool,
  admissions: number,
): Promise<{ usualMs: number; slowestMs: number } | undefined> {
  if (admissions === 0) return undefined;
  const size = Number(options.batch);
  const took: number[] = [];
  for (let n = 0; n < admissions; n += size) {
    took.push((await pass(pool, size)).admit);
    if (n % (size * 1000) === 0) process.stderr.write(`\r${n} admissions`);
  }
  process.stderr.write('\n');
  return { usualMs: percentile(took, 0.5), slowestMs: took.reduce((a, b) => Math.max(a, b), 0) };
}

/** Answers come at a rate and expire at the same one, in rounds; rows read for each that is erased. */
async function readToErase(pool: Pool): Promise<{ read: number; erased: number }> {
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
    // Time passes: what is five seconds older has expired.
    await pool.query(`update answers set expires_at = expires_at - make_interval(secs => ${ERASE_EVERY_S}),
      id = (lpad(to_hex(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - ${1000 * ERASE_EVERY_S}), 12, '0')
            || right(replace(id::text, '-', ''), 20))::uuid`);
    await add(-ERASE_EVERY_S, ERASE_EVERY_S);
    const aged = await counters();
    await eraseAnswers(pool, WINDOW_S);
    const after = await counters();
    rounds.read += after.read - aged.read;
    rounds.erased += after.erased - aged.erased;
  }
  return rounds;
}

/** A database with one app, and one connection, so that every statement keeps the plans that were made while it was empty. */
async function open(): Promise<{ database: TestDatabase; pool: Pool }> {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await pool.query(
    `insert into processes (id, kind, alive_until) values ($1, 'worker', now() + interval '1 day')`,
    [PROCESS],
  );
  await pool.query(
    `insert into apps (id, name, plan, redirect_uris, disabled, fingerprint_key, created_at, updated_at)
     values ($1, 'an app', 'sandbox', '{}', '{}', '\\x00', now(), now())`,
    [PARTY],
  );
  return { database, pool };
}

await mochaGlobalSetup();
const [small, large] = [await open(), await open()];
try {
  const samples = Number(options.samples);
  const both = [small.pool, large.pool];
  await medians(both, samples / 10);
  await fill(large.pool, Number(options.rows));
  const many = await admitMany(large.pool, Number(options.admissions));
  await large.pool.query('checkpoint');
  const [empty, full] = (await medians(both, samples)) as [Took, Took];
  const ratios = Object.fromEntries(STEPS.map((step) => [step, full[step] / empty[step]]));
  const erasing = await readToErase(large.pool);
  const [machineLoad] = loadavg();
  process.stdout.write(
    `${JSON.stringify({ empty, full, ratios, worst: WORST_RATIO, many, erasing, machineLoad }, undefined, 2)}\n`,
  );
  const kept =
    Math.max(...Object.values(ratios)) <= WORST_RATIO &&
    (many === undefined || many.slowestMs < many.usualMs + 1000) &&
    erasing.read <= 2 * erasing.erased;
  process.exitCode = kept ? 0 : 1;
} finally {
  for (const { database, pool } of [small, large]) {
    await pool.end();
    await database.drop();
  }
  await mochaGlobalTeardown();
}

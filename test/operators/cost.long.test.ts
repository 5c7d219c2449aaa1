import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { postgresProtocol } from '../../bench/protocols.ts';
import { type Heard, type Tap, tap } from '../../bench/wire-tap.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** What a prediction costs, in counts that a busy machine hardly changes. */
interface Cost {
  /** Sent to the database for it by ingress and worker. */
  statements: number;
  /** Written to the log for the tables and indexes of its database. */
  walBytes: number;
  /** System calls with which a process reads and writes. */
  ingressIo: number;
  workerIo: number;
}

const CALLS = 240;
/** A tenth to a third above what it costs: what the processes do by the clock falls into the longer runs of a busy machine. */
const MOST: Record<'alone' | 'among', Cost> = {
  alone: { statements: 6.5, walBytes: 5200, ingressIo: 17, workerIo: 16 },
  among: { statements: 1.2, walBytes: 4300, ingressIo: 5, workerIo: 5 },
};

/** The statements of a prediction; others are repeated by the clock. */
const ITS_OWN = /^(admit|claim|complete|complete_and_claim|find|notify)_v\d+$/;

describe('cost of a prediction', () => {
  let system: System<TestProcess>;
  let wire: Tap;
  let heard: Heard[] = [];
  let app: AppClient;
  let keeper: pg.Client;
  before(async function () {
    // Its counts are those of Linux.
    if (process.platform !== 'linux') this.skip();
    system = await startProcesses({ webs: 0, workers: 0 });
    const { pool, url } = system.database;
    await pool.query('create extension pg_walinspect');
    // A slot of this session: other tests write too, and the server would remove the log before it is read.
    keeper = new pg.Client({ connectionString: url });
    await keeper.connect();
    await keeper.query(`select pg_create_physical_replication_slot('cost_${process.pid}', true, true)`);
    wire = await tap('all', url, postgresProtocol, (one) => heard.push(one));
    const env = { DATABASE_URL: wire.url, DATABASE_DIRECT_URL: wire.url };
    await Promise.all([system.startWeb(env), system.startWorker(env)]);
    app = await system.app();
    await predict(64, 64);
  });
  after(async () => {
    await keeper?.end();
    await system?.stop();
    await wire?.[Symbol.asyncDispose]();
  });

  const predict = async (calls: number, callers: number) => {
    const loop = async () => {
      for (let n = 0; n < calls / callers; n += 1) {
        const { status, text } = await app.predict(predictionBody());
        assert.equal(status, 200, text);
      }
    };
    await Promise.all(Array.from({ length: callers }, loop));
  };

  const ioOf = async ({ child }: TestProcess): Promise<number> => {
    const io = await readFile(`/proc/${child.pid}/io`, 'utf8');
    return [...io.matchAll(/^sysc[rw]: (\d+)$/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  };

  const walEnd = async (): Promise<string> => {
    const { rows } = await system.database.pool.query<{ lsn: string }>(
      'select pg_current_wal_flush_lsn() as lsn',
    );
    return rows[0]?.lsn ?? '';
  };

  /** Without the copies of whole pages after a checkpoint. */
  const walBetween = async (from: string, to: string): Promise<number> => {
    const { rows } = await system.database.pool.query<{ bytes: string }>(
      `select sum(record_length - fpi_length) as bytes from pg_get_wal_records_info($1, $2)
        where block_ref like '%/' || (select oid from pg_database where datname = current_database()) || '/%'`,
      [from, to],
    );
    return Number(rows[0]?.bytes);
  };

  const costOf = async (callers: number): Promise<Cost> => {
    const [web, worker] = [system.webs[0], system.workers[0]];
    if (web === undefined || worker === undefined) throw new Error('not started');
    const [from, webIo, workerIo] = [await walEnd(), await ioOf(web), await ioOf(worker)];
    heard = [];
    await predict(CALLS, callers);
    const statements = heard.filter(({ kind, what }) => kind === 'sent' && ITS_OWN.test(what)).length;
    return {
      statements: statements / CALLS,
      ingressIo: ((await ioOf(web)) - webIo) / CALLS,
      workerIo: ((await ioOf(worker)) - workerIo) / CALLS,
      walBytes: (await walBetween(from, await walEnd())) / CALLS,
    };
  };

  const assertWithin = (cost: Cost, most: Cost) => {
    for (const [what, limit] of Object.entries(most))
      assert.ok(
        cost[what as keyof Cost] <= limit,
        `${what}: ${cost[what as keyof Cost]} of at most ${limit}`,
      );
  };

  it('a prediction alone costs few statements, bytes of WAL and system calls', async () => {
    assertWithin(await costOf(1), MOST.alone);
  });

  it('a prediction among many costs fewer statements and system calls', async () => {
    assertWithin(await costOf(48), MOST.among);
  });
});

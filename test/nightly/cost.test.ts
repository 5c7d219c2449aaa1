import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { postgresProtocol } from '../../bench/protocols.ts';
import { type Tap, type TappedMessage, tap } from '../../bench/wire-tap.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** Cost of a prediction, in counts that hardly depend on how busy the machine is. */
interface Cost {
  /** Statements that ingress and worker send to the database. */
  statements: number;
  wakeUps: number;
  /** Bytes of WAL for the tables and indexes of the database. */
  walBytes: number;
  /** System calls by which the ingress reads and writes. */
  ingressIo: number;
  workerIo: number;
  ingressHeap: number;
  workerHeap: number;
}

const CALLS = 240;
/** Limits, a tenth to a third above the measured cost: a busy machine does more periodic work per call. */
const COST_LIMITS: Record<'alone' | 'among', Cost> = {
  alone: {
    statements: 6.5,
    wakeUps: 3,
    walBytes: 7500,
    ingressIo: 17,
    workerIo: 23,
    ingressHeap: 900_000,
    workerHeap: 1_200_000,
  },
  among: {
    statements: 1.2,
    wakeUps: 1,
    walBytes: 4300,
    ingressIo: 5,
    workerIo: 5,
    ingressHeap: 400_000,
    workerHeap: 400_000,
  },
};

/** Matches the statements that a prediction causes. Processes send all others periodically, even without calls. */
const PREDICTION_STATEMENTS = /^(admit|claim|complete|find|notify)_v\d+$/;

describe('prediction cost', () => {
  let system: System<TestProcess>;
  let wire: Tap;
  const heardMessages: TappedMessage[] = [];
  let app: AppClient;
  let keeper: pg.Client;
  before(async function () {
    // The counts are read from /proc, which only Linux has.
    if (process.platform !== 'linux') this.skip();
    system = await startProcesses({ webs: 0, workers: 0 });
    const { pool, url } = system.database;
    await pool.query('create extension pg_walinspect');
    // Keeps a replication slot, without which the server could remove WAL before this test reads it.
    keeper = new pg.Client({ connectionString: url });
    await keeper.connect();
    await keeper.query(`select pg_create_physical_replication_slot('cost_${process.pid}', true, true)`);
    wire = await tap('all', url, postgresProtocol, (one) => heardMessages.push(one));
    const env = {
      DATABASE_URL: wire.url,
      DATABASE_DIRECT_URL: wire.url,
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
    };
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

  /** Returns the bytes allocated so far, read through the process's inspector, whose address is in the log. */
  const allocatedBy = async ({ log }: TestProcess): Promise<number> => {
    const socket = new WebSocket(/ws:\/\/\S+/.exec(log)?.[0] ?? '');
    await once(socket, 'open');
    const expression = `process.getBuiltinModule('node:v8').getHeapStatistics().total_allocated_bytes`;
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
    const [{ data }] = (await once(socket, 'message')) as [{ data: string }];
    socket.close();
    return JSON.parse(data).result.result.value;
  };

  const walEnd = async (): Promise<string> => {
    const rows = await system.sql<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn');
    return rows[0]?.lsn ?? '';
  };

  /** Returns the WAL bytes between two positions, without the page copies after a checkpoint. */
  const walBetween = async (from: string, to: string): Promise<number> => {
    const rows = await system.sql<{ bytes: string }>(
      `select sum(record_length - fpi_length) as bytes from pg_get_wal_records_info($1, $2)
        where block_ref like '%/' || (select oid from pg_database where datname = current_database()) || '/%'`,
      [from, to],
    );
    return Number(rows[0]?.bytes);
  };

  const costOf = async (callers: number): Promise<Cost> => {
    const [web, worker] = [system.webs[0], system.workers[0]];
    if (web === undefined || worker === undefined) throw new Error('not started');
    const countsOf = async () => ({
      statements: heardMessages.filter(
        ({ kind, what }) => kind === 'sent' && PREDICTION_STATEMENTS.test(what),
      ).length,
      wakeUps: heardMessages.filter(({ kind }) => kind === 'pushed').length,
      ingressIo: await ioOf(web),
      workerIo: await ioOf(worker),
      ingressHeap: await allocatedBy(web),
      workerHeap: await allocatedBy(worker),
    });
    const [from, before] = [await walEnd(), await countsOf()];
    await predict(CALLS, callers);
    const [to, after] = [await walEnd(), await countsOf()];
    const each = (what: keyof typeof after) => (after[what] - before[what]) / CALLS;
    return {
      statements: each('statements'),
      wakeUps: each('wakeUps'),
      walBytes: (await walBetween(from, to)) / CALLS,
      ingressIo: each('ingressIo'),
      workerIo: each('workerIo'),
      ingressHeap: each('ingressHeap'),
      workerHeap: each('workerHeap'),
    };
  };

  const assertWithin = (cost: Cost, limits: Cost) => {
    for (const [what, limit] of Object.entries(limits))
      assert.ok(
        cost[what as keyof Cost] <= limit,
        `${what}: ${cost[what as keyof Cost]} of at most ${limit}`,
      );
  };

  it('a lone prediction stays within its limits on statements, wake-ups, WAL bytes, system calls and heap bytes', async () => {
    assertWithin(await costOf(1), COST_LIMITS.alone);
  });

  it('a prediction among 48 concurrent ones stays within lower limits than a lone prediction', async () => {
    assertWithin(await costOf(48), COST_LIMITS.among);
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { adaptToPooler } from '../../shared/db/pool.ts';
import { transaction } from '../../shared/db/statement.ts';
import { createLog } from '../../shared/log.ts';
import { predictionBody } from '../support/client.ts';
import { useDatabase } from '../support/database.ts';
import { useOwnServer } from '../support/own-server.ts';
import { describeWithPgBouncer } from '../support/pgbouncer.ts';
import { startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SETTINGS = `
  select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
         current_setting('idle_in_transaction_session_timeout') as idle,
         current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit`;
const OUR_SETTINGS = { statement: '10s', lock: '2s', idle: '5s', seqscan: 'off', jit: 'off' };

describeWithPgBouncer('PgBouncer in transaction mode', () => {
  const server = useOwnServer({ pooled: true });
  const test = useDatabase();
  let database: Database;
  before(async () => {
    const addresses = { url: test.serviceUrl, directUrl: test.url, poolSize: 2 };
    database = await openDatabase({ database: addresses }, createLog('test', 'silent'), 'forecue test');
  });
  after(() => database?.close());
  const inTransaction = (sql: string) =>
    transaction(database.orm.em, (tx) => tx.execute<Record<string, string>[]>(sql));
  const running = async (text: string) => {
    const { rowCount } = await test.pool.query(
      `select from pg_stat_activity where datname = current_database() and state = 'active'
          and pid <> pg_backend_pid() and strpos(query, $1) > 0`,
      [text],
    );
    return rowCount ?? 0;
  };

  it("a transaction through PgBouncer has the product's settings, and does not leak them to the next user of its session", async () => {
    const { rows: others } = await database.pool.query(SETTINGS);
    assert.notDeepEqual(others, [OUR_SETTINGS]);
    assert.deepEqual(await inTransaction(SETTINGS), [OUR_SETTINGS]);
    for (let n = 0; n < 10; n += 1) assert.deepEqual((await database.pool.query(SETTINGS)).rows, others);
  });

  it('PostgreSQL ends a transaction through PgBouncer 5 s after its client froze, and releases its locks', async () => {
    const frozen = transaction(database.orm.em, async (tx) => {
      await tx.execute('select pg_advisory_xact_lock(1)');
      await sleep(6500);
      await tx.execute('select 1');
    });
    const failed = assert.rejects(frozen);
    // Takes the lock for this statement only: a session lock would block the frozen transaction.
    const isFree = async () => {
      const { rows } = await test.pool.query<{ free: boolean }>(
        'select pg_try_advisory_xact_lock(1) as free',
      );
      return rows[0]?.free;
    };
    await until(async () => (await isFree()) === false);
    await until(isFree, 8000);
    await failed;
  });

  it('a statement through PgBouncer that takes too long is also cancelled on the server, and its connection can be used again', async () => {
    for (const { cancelAfterMs, limit } of [
      { cancelAfterMs: 1000, limit: {} },
      { cancelAfterMs: 60_000, limit: { query_timeout: 3000 } },
    ]) {
      const pool = new pg.Pool({ ...connectionOf(test.serviceUrl), max: 1 });
      adaptToPooler(pool, { cancelAfterMs });
      try {
        const client = await pool.connect();
        client.on('error', () => {});
        try {
          const long = { name: 'long', text: 'select pg_sleep($1)', values: [20], ...limit };
          await assert.rejects(client.query(long), { code: '57014' });
          await until(async () => (await running('pg_sleep($1)')) === 0, 5000);
          assert.equal((await client.query('select 1')).rowCount, 1);
        } finally {
          client.release(true);
        }
      } finally {
        await pool.end();
      }
    }
  });

  it('callers of an installation that uses PgBouncer get 503 while PostgreSQL is down, and 200 within 8 s after PostgreSQL is started #pooler', async () => {
    await using system = await startSystem();
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    await server.stop('immediate');
    const down = await app.predict(predictionBody());
    assert.deepEqual([down.status, down.code], [503, 'service_unavailable']);
    assert.ok(down.tookMs < 5000, `${down.tookMs} ms`);
    await server.start();
    await until(async () => (await app.predict(predictionBody())).status === 200, 8000);
  });
});

function connectionOf(url: string): pg.PoolConfig {
  const { hostname, port, username, pathname } = new URL(url);
  return { host: hostname, port: Number(port), user: username, database: pathname.slice(1) };
}

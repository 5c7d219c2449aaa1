import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLease } from '../../shared/db/stores/lease.ts';
import { findJobs, findRequest, outcomesOf } from '../../shared/db/stores/work/find.ts';
import { newId, newIds } from '../../shared/ids.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { useDatabase } from '../support/database.ts';
import { hang, ok, status } from '../support/fake-provider.ts';
import { makePastWeeks } from '../support/past-weeks.ts';
import { useSystem } from '../support/system.ts';
import { alterRow, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

describe('clock set back', () => {
  describe('end of a request', () => {
    const database = useDatabase();
    const [party, key] = [newId(), newId()];
    const [past = '', present = ''] = newIds(2);
    before(async () => {
      await makePastWeeks(database.pool);
      // Attempt 3 belongs to an expired request with the same key, whose end looks recent since the clock was set back.
      await end({ id: past, attempt: 3, state: 'failed', at: '-35 days 1 minute' });
      await end({ id: present, attempt: 1, state: 'failed', at: '2 seconds' });
      await end({ id: present, attempt: 2, state: 'succeeded', at: '0' });
    });

    const end = (row: { id: string; attempt: number; state: string; at: string }) =>
      database.pool.query(
        `insert into history (
           id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, ended_at, expires_at, facts)
         values ($1, 'sync', $2, $3, '', $4, $5, $1, now(), now() + $6::interval, now() + interval '1 hour', '{}')`,
        [row.id, party, key, row.state, row.attempt, row.at],
      );

    it('look-ups of a request return the outcome of its latest attempt, even if the clock was set back between attempts', async () => {
      const [found, outcomes, [job]] = await Promise.all([
        findRequest(database.pool, key),
        outcomesOf(database.pool, [key]),
        findJobs(database.pool, [{ party, key }], ['sync']),
      ]);
      const outcome = outcomes.get(key);
      assert.deepEqual([found?.id, found?.attempt], [present, 2]);
      assert.deepEqual(outcome === 'gone' ? outcome : outcome?.attempt, 2);
      assert.equal(job?.state, 'succeeded');
    });
  });

  describe('lead', () => {
    const database = useDatabase();

    it('after the database clock is set back an hour, another process leads within a minute of the death of the leader', async () => {
      const take = (holder: string) =>
        takeLease(database.pool, 'lead', { holder, ms: 3000, rounds: {}, renews: false });
      const leaderEndsIn = (time: string) =>
        database.pool.query(`update leases set until = now() + $1::interval where name = 'lead'`, [time]);
      assert.equal(await take(newId()), true);
      await leaderEndsIn('50 seconds');
      assert.equal(await take(newId()), false);
      await leaderEndsIn('1 hour');
      assert.equal(await take(newId()), true);
      assert.equal(await take(newId()), false);
    });
  });

  describe('prediction', () => {
    const system = useSystem();
    let app: AppClient;
    beforeEach(async () => {
      app = await system.app();
    });

    it('after the database clock is set back an hour, predictions admitted before and after the change are answered', async () => {
      const early = predictionBody();
      const answered = await whileFrozen(system.workers, async () => {
        const waiting = app.predict(early);
        await until(async () => (await system.database.pool.query('select from work')).rowCount === 1);
        const ahead = ['admitted_at', 'queued_at', 'deadline_at'].map(
          (column) => `${column} = ${column} + interval '1 hour'`,
        );
        await alterRow(system, app, early, ahead.join());
        return { waiting };
      });
      assert.equal((await answered.waiting).status, 200);
      assert.equal((await app.predict(predictionBody())).status, 200);
    });

    it('after the database clock is set back, a failed prediction can run again; its answer is replayed and costs one unit', async () => {
      const body = predictionBody();
      system.provider.respond(status(400));
      assert.equal((await app.predict(body)).code, 'provider_failed');
      await alterRow(system, app, body, `ended_at = now() + interval '30 seconds'`);
      system.provider.respond(ok());
      const { text } = await app.predict(body);
      const again = await app.predict(body);
      assert.equal(again.text, text);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal((await app.usage()).body.prediction_units, 1);
    });
  });

  describe('callers at their deadline', () => {
    // Long enough that all calls reach the provider even on a busy machine.
    const TIMEOUT_MS = 4000;
    const CALLERS = 50;
    const system = useSystem({
      env: { PREDICTION_TIMEOUT_MS: `${TIMEOUT_MS}`, WORKER_CONCURRENCY: '64' },
    });
    let app: AppClient;
    before(async () => {
      app = await system.app();
    });

    it("callers past their deadline cause fewer than 20 transactions each, even if the database's clock is behind", async () => {
      const { pool } = system.database;
      const transactions = async () => {
        const { rows } = await pool.query<{ n: number }>(
          `select (xact_commit + xact_rollback)::int as n from pg_stat_database where datname = current_database()`,
        );
        return rows[0]?.n ?? 0;
      };
      const perSecond = async (work: () => Promise<unknown>) => {
        const [since, before] = [performance.now(), await transactions()];
        await work();
        return (1000 * ((await transactions()) - before)) / (performance.now() - since);
      };
      const idle = await perSecond(() => sleep(3000));
      system.provider.respond(hang());
      const asked = Array.from({ length: CALLERS }, () => app.predict(predictionBody()));
      await system.provider.called(CALLERS);
      await whileFrozen(system.workers, async () => {
        await pool.query(
          `update work set deadline_at = deadline_at + interval '10 minutes' where party = $1`,
          [app.id],
        );
        const [since, before] = [performance.now(), await transactions()];
        for (const { code } of await Promise.all(asked)) assert.equal(code, 'service_unavailable');
        // A PostgreSQL session reports its transactions at most ten seconds late.
        await until(async () => (await perSecond(() => sleep(1000))) < idle + 10, 15_000);
        const ofIdling = (idle * (performance.now() - since)) / 1000;
        const perCaller = ((await transactions()) - before - ofIdling) / CALLERS;
        assert.ok(perCaller < 20, `${perCaller} transactions`);
      });
    });
  });
});

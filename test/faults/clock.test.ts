import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnRounds } from '../../shared/db/stores/rounds.ts';
import { findJobs, findRequest, outcomesOf } from '../../shared/db/stores/work/find.ts';
import { newId, newIds } from '../../shared/ids.ts';
import type { ActivityResponse } from '../../shared/schemas/activity.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { useDatabase } from '../support/database.ts';
import { hang, ok, status } from '../support/fake-provider.ts';
import { makePastWeeks } from '../support/past-weeks.ts';
import { useProcesses, useSystem } from '../support/system.ts';
import { alterRow, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

describe('clocks that are an hour ahead of the database', () => {
  const env = {
    PREDICTION_TIMEOUT_MS: '3000',
    CLOCK_AHEAD_MS: '3600000',
    NODE_OPTIONS: `--import ${new URL('../support/clock-ahead.ts', import.meta.url).href}`,
  };
  const system = useProcesses({ env });

  it('deadline and recovery window of a prediction are by the clock of the database, whatever the clocks of ingress and worker say #database-clock', async () => {
    const [app, body] = [await system.app(), predictionBody()];
    const first = await app.predict(body);
    const rows = await system.sql<{ left: number }>(
      'select ($1 - extract(epoch from now()))::float8 as left',
      [first.body.expires_at],
    );
    const leftS = rows[0]?.left ?? 0;
    assert.ok(leftS > 590 && leftS < 601, `${leftS} s are left`);
    assert.equal((await app.predict(body)).text, first.text);
    system.provider.respond(hang());
    const { code, tookMs } = await app.predict(predictionBody());
    assert.equal(code, 'prediction_timeout');
    assert.ok(tookMs > 2000 && tookMs < 6000, `${tookMs} ms`);
  });

  it("an account's tokens of today are those of the database's day, whatever the clock of the ingress says", async () => {
    await using web = await system.startWeb({ CLOCK_AHEAD_MS: '86400000' });
    const ann = await signUp({ webs: [web] });
    await system.sql('insert into token_usage (account_id, day, tokens) values ($1, utc_day(), 17)', [
      ann.id,
    ]);
    assert.equal((await ann.get<ActivityResponse>('/api/activity/?days=1')).body.tokens_today, 17);
  });
});

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

    it('look-ups of a request return the outcome of its latest attempt, even if the clock was set back between attempts #clock-back', async () => {
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

  describe('housekeeping', () => {
    const database = useDatabase();

    it('after the database clock is set back an hour, a step of the housekeeping that ran before is due at once #clock-back', async () => {
      const steps = [{ step: 'any', everyMs: 60_000 }];
      const begin = async () =>
        (await turnRounds(database.pool, newId(), { ended: [], steps })).includes('any');
      const aheadBy = (interval: string) =>
        database.pool.query(`update rounds set began_at = now() + $1::interval`, [interval]);
      assert.equal(await begin(), true);
      await aheadBy('900 milliseconds');
      assert.equal(await begin(), false, 'a clock may jump by less than a second');
      await aheadBy('1 hour');
      assert.deepEqual([await begin(), await begin()], [true, false]);
    });
  });

  describe('prediction', () => {
    const system = useSystem();
    let app: AppClient;
    beforeEach(async () => {
      app = await system.app();
    });

    it('after the database clock is set back an hour, predictions admitted before and after the change are answered #clock-back', async () => {
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

  describe('death of a worker', () => {
    const system = useSystem({ apart: true, env: { LEASE_MS: '1500' } });

    it('after the database clock is set back, work of a worker that dies before its next heartbeat is taken over #clock-back', async () => {
      const app = await system.app();
      system.provider.next(hang());
      const waiting = app.predict(predictionBody());
      await system.provider.called(1);
      const [dead] = system.workers.splice(0, 1);
      await dead?.kill();
      await system.database.pool.query(
        `update processes set alive_until = now() + interval '10 minutes' where kind = 'worker'`,
      );
      await system.startWorker();
      assert.equal((await waiting).status, 200);
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

    it("callers past their deadline cause fewer than 20 transactions each, even if the database's clock is behind #clock-back", async () => {
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

describe('clock set forward', () => {
  const system = useSystem();

  const dropWeeks = async () => {
    const { pool } = system.database;
    const { rows } = await pool.query<{ weeks: string }>(
      `select string_agg(inhrelid::regclass::text, ', ') as weeks from pg_inherits
        where inhparent in ('history'::regclass, 'drafts'::regclass)`,
    );
    await pool.query(`drop table ${rows[0]?.weeks}`);
  };

  it('after the database clock leaps past all weeks that have partitions, predictions are answered and replayed #clock-forward', async () => {
    const app = await system.app();
    await dropWeeks();
    const bodies = Array.from({ length: 20 }, () => predictionBody());
    const answers = await Promise.all(bodies.map((body) => app.predict(body)));
    for (const [n, { status, text }] of answers.entries()) {
      assert.equal(status, 200, text);
      assert.equal((await app.predict(bodies[n] ?? {})).text, text);
    }
    assert.equal((await app.usage()).body.prediction_units, bodies.length);
  });

  it('a prediction that has to wait until another has made the partitions is answered', async () => {
    const app = await system.app();
    await dropWeeks();
    const other = await system.database.pool.connect();
    await other.query('begin');
    await other.query('select make_weeks_v1()');
    const prediction = app.predict(predictionBody());
    await until(async () => {
      const { rows } = await system.database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await other.query('commit');
    other.release();
    assert.equal((await prediction).status, 200);
  });
});

import assert from 'node:assert/strict';
import { findJobs } from '../../shared/db/stores/work/jobs.ts';
import { findRequest, outcomesOf } from '../../shared/db/stores/work/outcomes.ts';
import { publish } from '../../shared/db/stores/work/snapshot.ts';
import { newId, newIds } from '../../shared/ids.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { openServed, pass } from '../support/common-path.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { ok, status } from '../support/fake-provider.ts';
import { makePastWeeks } from '../support/past-weeks.ts';
import { type System, startSystem } from '../support/system.ts';
import { alterRow } from '../support/time-travel.ts';

const KIND = 'predict';

describe("when the database's clock has gone back", () => {
  describe('the queue', () => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await createDatabase();
    });
    afterEach(() => database.drop());

    /** A floor, and one to come, as the leader left them when the clock was ahead. */
    const leave = ({ floor, next }: { floor: string; next: string }) =>
      database.pool.query(
        `insert into queue_snapshots (kind, page, floor, next_floor, next_floor_at)
         select $1, 1, extract(epoch from now() + $2::interval) * 1000000,
                extract(epoch from now() + $3::interval) * 1000000, now() + $3::interval`,
        [KIND, floor, next],
      );

    const floorOf = async () => {
      const { rows } = await database.pool.query('select queue_floor_v2($1) as floor', [[KIND]]);
      return Number(rows[0].floor);
    };

    it('gives new work a place that workers look at', async () => {
      await leave({ floor: '1 hour', next: '1 hour' });
      const { ended } = await pass(database.pool, await openServed(database.pool), 1);
      assert.equal(ended, 1);
    });

    it('finds work below its floor at the next publication', async () => {
      const { rows } = await database.pool.query(
        `with flow as (insert into flows (kind, party, touched_at) values ($1, $2, now()))
         insert into work (
           id, kind, party, key, priority, attempt, admission, fingerprint, supersedable, waiters, cancel_on_disconnect,
           admitted_at, deadline_at, facts, input)
         values ($3, $1, $2, $3, extract(epoch from now()) * 1000000, 1, $3, '', false, '{}', false, now(),
                 now() + interval '1 hour', '{}', '')
         returning priority`,
        [KIND, newId(), newId()],
      );
      await leave({ floor: '1 hour', next: '1 hour' });
      await publish(database.pool, [KIND]);
      assert.equal(await floorOf(), Number(rows[0].priority));
    });

    it('keeps its floor below what an admission in progress may use', async () => {
      await leave({ floor: '-1 hour', next: '1 hour' });
      const floor = await floorOf();
      await publish(database.pool, [KIND]);
      assert.equal(await floorOf(), floor);
    });
  });

  describe('the end of a request', () => {
    let database: TestDatabase;
    const [party, key] = [newId(), newId()];
    const [past = '', present = ''] = newIds(2);
    before(async () => {
      database = await createDatabase();
      await makePastWeeks(database.pool);
      // The first one was forgotten, and is not old enough any more.
      await end({ id: past, attempt: 3, state: 'failed', at: '-35 days 1 minute' });
      await end({ id: present, attempt: 1, state: 'failed', at: '2 seconds' });
      await end({ id: present, attempt: 2, state: 'succeeded', at: '0' });
    });
    after(() => database.drop());

    const end = (row: { id: string; attempt: number; state: string; at: string }) =>
      database.pool.query(
        `insert into history (
           id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, ended_at, expires_at, facts)
         values ($1, 'sync', $2, $3, '', $4, $5, $1, now(), now() + $6::interval, now() + interval '1 hour', '{}')`,
        [row.id, party, key, row.state, row.attempt, row.at],
      );

    it('is that of its latest attempt, for whoever asks', async () => {
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

  describe('a prediction that ran again', () => {
    let system: System;
    let app: AppClient;
    before(async () => {
      system = await startSystem();
      app = await system.app();
    });
    after(() => system.stop());

    it('is given back to whoever repeats it, for one unit', async () => {
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
});

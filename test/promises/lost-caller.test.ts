import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { type System, startSystem } from '../support/system.ts';
import { alterApp, alterRow } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;

const CANCEL = { 'x-on-disconnect': 'cancel' };

describe('caller that disconnects', () => {
  let system: System;
  /** Lets the provider answer, in the running test. */
  let answer: () => void;
  before(async () => {
    // One job at a time, so that a call which hangs keeps all later ones in the queue. The deadline is so long that a queue
    // which seems 6 s old at a single slot does not count as overloaded.
    system = await startSystem({ env: { WORKER_CONCURRENCY: '1', PREDICTION_TIMEOUT_MS: '60000' } });
  });
  after(() => system.stop());
  beforeEach(() => {
    system.provider.reset();
    const gate = Promise.withResolvers<void>();
    answer = gate.resolve;
    system.provider.respond(async (response, call) => {
      await Promise.race([gate.promise, call.ended]);
      if (call.abortedAt === null) await ok()(response, call);
    });
  });
  afterEach(async () => {
    answer();
    await until(async () => {
      const { rowCount } = await system.database.pool.query('select from work');
      return rowCount === 0;
    });
  });

  /** A call that can be aborted. */
  const call = (app: AppClient, body: Body, headers: Record<string, string> = {}) => {
    const controller = new AbortController();
    const reply = app.predict(body, { headers, signal: controller.signal });
    reply.catch(() => {});
    return { reply, leave: () => controller.abort() };
  };
  const inState = (body: Body, state: string) =>
    until(async () => {
      const row = await rowOf(system, body).catch(() => undefined);
      return row?.state === state && row;
    });
  const detached = (body: Body) => until(async () => (await rowOf(system, body)).detached_at);
  const waited = (body: Body, count: number) =>
    until(async () => (await rowOf(system, body)).waiters.length === count);
  const assertUnits = async (app: AppClient, settled: number, reserved: number) => {
    const { body } = await app.usage();
    assert.deepEqual([body.prediction_units, body.reserved_units], [settled, reserved]);
  };

  /** Keeps the worker busy until `answer`. */
  const occupyWorker = async (app: AppClient) => {
    void app.predict(predictionBody()).catch(() => {});
    await system.provider.called(1);
  };

  /** A request whose caller disconnected before any worker took it. */
  const leftInQueue = async (app: AppClient, headers?: Record<string, string>) => {
    const body = predictionBody();
    const { leave } = call(app, body, headers);
    await inState(body, 'queued');
    leave();
    return body;
  };

  it('a caller that disconnects leaves a running prediction to finish, and it can be recovered', async () => {
    const app = await system.app();
    const body = predictionBody();
    const { leave } = call(app, body);
    await system.provider.called(1);
    leave();
    await detached(body);
    answer();
    await inState(body, 'suggested');
    const reply = await app.predict(body);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('idempotency-replayed'), 'true');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects may re-attach to a running prediction and wait on', async () => {
    const app = await system.app();
    const body = predictionBody();
    const { leave } = call(app, body);
    await system.provider.called(1);
    leave();
    await detached(body);
    const back = app.predict(body);
    await waited(body, 1);
    answer();
    const { status, headers } = await back;
    assert.deepEqual([status, headers.get('idempotency-replayed')], [200, 'true']);
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects leaves a queued prediction abandoned after 5 s: never run, nothing charged', async () => {
    const app = await system.app();
    const other = await system.app();
    await occupyWorker(other);
    const body = await leftInQueue(app);
    await detached(body);
    await assertUnits(app, 0, 1);
    const row = await until(async () => {
      const now = await rowOf(system, body);
      return now.state === 'failed' && now;
    }, 8000);
    assert.equal(row.code, 'abandoned');
    const tookMs = Number(row.ended_at) - Number(row.detached_at);
    assert.ok(tookMs >= 5000, `abandoned after ${tookMs} ms`);
    const cancelled = await app.cancel(body.request_id, body.user_id);
    assert.deepEqual(cancelled.body, { status: 'failed', prediction_units: 0 });
    answer();
    assert.equal((await app.predict(predictionBody())).status, 200);
    assert.equal((await rowOf(system, body)).started_at, null);
    assert.equal(system.provider.calls.length, 2);
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects leaves a queued prediction that no worker takes after 5 s, even if it was not yet found abandoned', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const body = await leftInQueue(app);
    await detached(body);
    await alterRow(
      system,
      app,
      body,
      `detached_at = now() - interval '5001 milliseconds', admitted_at = now() - interval '6 seconds'`,
    );
    answer();
    await inState(body, 'failed');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 0, 0);
  });

  it('a caller that disconnects and asks again within 5 s is waited for', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const [again, never] = [await leftInQueue(app), await leftInQueue(app)];
    await Promise.all([detached(again), detached(never)]);
    const back = app.predict(again);
    await waited(again, 1);
    // As if both had left long ago: the one without a caller shows that the time is over.
    for (const body of [again, never]) {
      const longAgo = `now() - interval '6 seconds'`;
      const left = body === never ? `, detached_at = ${longAgo}` : '';
      await alterRow(system, app, body, `admitted_at = ${longAgo}${left}`);
    }
    await inState(never, 'failed');
    assert.equal((await rowOf(system, again)).state, 'queued');
    answer();
    assert.equal((await back).status, 200);
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects and asks again after 5 s gets it run after all, as the same prediction', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const body = await leftInQueue(app);
    await detached(body);
    const longAgo = `now() - interval '6 seconds'`;
    await alterRow(system, app, body, `detached_at = ${longAgo}, admitted_at = ${longAgo}`);
    const { id } = await inState(body, 'failed');
    answer();
    const reply = await app.predict(body);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body.prediction_id, id);
    assert.equal(reply.headers.get('idempotency-replayed'), null);
    assert.equal((await rowOf(system, body)).attempt, 2);
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects has a running prediction cancelled at once if the request said so, and the provider’s socket closed', async () => {
    const app = await system.app();
    const body = predictionBody();
    const { leave } = call(app, body, CANCEL);
    const { aborted } = await system.provider.called(1);
    leave();
    await aborted;
    assert.equal((await rowOf(system, body)).state, 'cancelled');
    await assertUnits(app, 0, 0);
  });

  it('a caller that disconnects has a running prediction cancelled at once if its app says so, unless the request says otherwise', async () => {
    const app = await system.app();
    await alterApp(system, app, `on_disconnect = 'cancel'`);
    const [one, other] = [predictionBody(), predictionBody()];
    const first = call(app, one);
    const { aborted } = await system.provider.called(1);
    first.leave();
    await aborted;
    assert.equal((await rowOf(system, one)).state, 'cancelled');
    const second = call(app, other, { 'x-on-disconnect': 'continue' });
    await system.provider.called(2);
    second.leave();
    await detached(other);
    answer();
    await inState(other, 'suggested');
    await assertUnits(app, 1, 0);
  });

  it('a caller that disconnects has a queued prediction cancelled at once if the request said so', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const body = await leftInQueue(app, CANCEL);
    await inState(body, 'cancelled');
    answer();
    assert.equal((await app.predict(body)).code, 'prediction_cancelled');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 0, 0);
  });

  it('a caller that disconnects and asks again at once is not taken for gone, however late the detach arrives', async () => {
    const app = await system.app();
    const [slow, body] = [predictionBody(), predictionBody()];
    const returning = call(app, body);
    await system.provider.called(1);
    const other = call(app, slow, CANCEL);
    await inState(slow, 'queued');
    const lock = await system.database.pool.connect();
    try {
      // The ingress sends one detach after the other: the lock on the other row delays the one for this row.
      await lock.query('begin');
      await lock.query(`select from work where facts::json ->> 'requestId' = $1 for update`, [
        slow.request_id,
      ]);
      other.leave();
      await until(async () => {
        const { rowCount } = await system.database.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      returning.leave();
      await app.usage();
      const back = app.predict(body, { headers: { ...CANCEL, prefer: 'wait' } });
      await until(async () => (await rowOf(system, body)).cancel_on_disconnect);
      await lock.query('commit');
      await inState(slow, 'cancelled');
      answer();
      const reply = await back;
      assert.equal(reply.status, 200, reply.text);
    } finally {
      lock.release();
    }
  });

  it('a caller that disconnects changes nothing while another one still waits', async () => {
    const app = await system.app();
    const body = predictionBody();
    const first = call(app, body);
    await system.provider.called(1);
    const second = app.predict(body, { headers: { ...CANCEL, prefer: 'wait' } });
    await until(async () => (await rowOf(system, body)).cancel_on_disconnect);
    const control = predictionBody();
    const last = call(app, control, CANCEL);
    await inState(control, 'queued');
    first.leave();
    last.leave();
    // The ingress has seen the second of them leave, so the first one too.
    await inState(control, 'cancelled');
    const row = await rowOf(system, body);
    assert.deepEqual([row.state, row.detached_at], ['running', null]);
    answer();
    assert.equal((await second).status, 200);
    await assertUnits(app, 1, 0);
  });
});

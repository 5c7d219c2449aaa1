import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { alterApp, alterRow } from '../support/time-travel.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;

const CANCEL = { 'x-on-disconnect': 'cancel' };

describe('caller that disconnects', () => {
  // One slot, so that a hanging call keeps all later calls queued. The deadline is long, so that work that seems to
  // have waited for 6 s does not count as overload.
  const system = useSystem({ env: { WORKER_CONCURRENCY: '1', PREDICTION_TIMEOUT_MS: '60000' } });
  /** Lets the provider answer the running test's calls. */
  let answer: () => void;
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

  /** Sends a call that can be aborted with `leave`. */
  const call = (app: AppClient, body: Body, headers: Record<string, string> = {}) => {
    const controller = new AbortController();
    const reply = app.predict(body, { headers, signal: controller.signal });
    reply.catch(() => {});
    return { reply, leave: () => controller.abort() };
  };
  const untilState = (body: Body, state: string) =>
    until(async () => {
      const row = await rowOf(system, body).catch(() => undefined);
      return row?.state === state && row;
    });
  const untilDetached = (body: Body) => until(async () => (await rowOf(system, body)).detached_at);
  const untilWaiters = (body: Body, count: number) =>
    until(async () => (await rowOf(system, body)).waiters.length === count);

  const occupyWorker = async (app: AppClient) => {
    void app.predict(predictionBody()).catch(() => {});
    await system.provider.called(1);
  };

  /** Queues a request whose caller disconnects before a worker takes it. */
  const queueAndLeave = async (app: AppClient, headers?: Record<string, string>) => {
    const body = predictionBody();
    const { leave } = call(app, body, headers);
    await untilState(body, 'queued');
    leave();
    return body;
  };

  it('by default, a prediction runs on when its caller disconnects, and a repeated request gets the result #caller-leaves #client-dies', async () => {
    const app = await system.app();
    const body = predictionBody();
    const { leave } = call(app, body);
    await system.provider.called(1);
    leave();
    await untilDetached(body);
    answer();
    await untilState(body, 'suggested');
    const reply = await app.predict(body);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('idempotency-replayed'), 'true');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1);
  });

  it('a queued prediction is abandoned 5 s after its caller disconnects, never runs and costs nothing #caller-leaves #client-dies', async () => {
    const app = await system.app();
    const other = await system.app();
    await occupyWorker(other);
    const body = await queueAndLeave(app);
    await untilDetached(body);
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
    await assertUnits(app, 1);
  });

  it('a caller that repeats its request within 5 s of disconnecting keeps its queued prediction', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const [again, never] = [await queueAndLeave(app), await queueAndLeave(app)];
    await Promise.all([untilDetached(again), untilDetached(never)]);
    const back = app.predict(again);
    await untilWaiters(again, 1);
    // Makes both look old. The round that abandons the request without a caller has also looked at the other request.
    for (const body of [again, never]) {
      const longAgo = `now() - interval '6 seconds'`;
      const left = body === never ? `, detached_at = ${longAgo}` : '';
      await alterRow(system, app, body, `admitted_at = ${longAgo}${left}`);
    }
    await untilState(never, 'failed');
    assert.equal((await rowOf(system, again)).state, 'queued');
    answer();
    assert.equal((await back).status, 200);
    await assertUnits(app, 1);
  });

  it('a request that was abandoned in the queue runs as a second attempt when it is repeated', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const body = await queueAndLeave(app);
    await untilDetached(body);
    const longAgo = `now() - interval '6 seconds'`;
    await alterRow(system, app, body, `detached_at = ${longAgo}, admitted_at = ${longAgo}`);
    const { id } = await untilState(body, 'failed');
    answer();
    const reply = await app.predict(body);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body.prediction_id, id);
    assert.equal(reply.headers.get('idempotency-replayed'), null);
    assert.equal((await rowOf(system, body)).attempt, 2);
    await assertUnits(app, 1);
  });

  it('with `X-On-Disconnect: cancel`, a disconnect cancels the running prediction and its provider call at once #caller-leaves #client-dies', async () => {
    const app = await system.app();
    const body = predictionBody();
    const { leave } = call(app, body, CANCEL);
    const { aborted } = await system.provider.called(1);
    leave();
    await aborted;
    assert.equal((await rowOf(system, body)).state, 'cancelled');
    await assertUnits(app, 0);
  });

  it('with on_disconnect set to cancel, a disconnect cancels the prediction, unless X-On-Disconnect says continue', async () => {
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
    await untilDetached(other);
    answer();
    await untilState(other, 'suggested');
    await assertUnits(app, 1);
  });

  it('with `X-On-Disconnect: cancel`, a disconnect cancels a queued prediction, which never runs', async () => {
    const app = await system.app();
    await occupyWorker(await system.app());
    const body = await queueAndLeave(app, CANCEL);
    await untilState(body, 'cancelled');
    answer();
    assert.equal((await app.predict(body)).code, 'prediction_cancelled');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 0);
  });

  it('a disconnect does not affect a prediction that another caller waits for', async () => {
    const app = await system.app();
    const body = predictionBody();
    const first = call(app, body);
    await system.provider.called(1);
    const second = app.predict(body, { headers: { ...CANCEL, prefer: 'wait' } });
    await until(async () => (await rowOf(system, body)).cancel_on_disconnect);
    const control = predictionBody();
    const last = call(app, control, CANCEL);
    await untilState(control, 'queued');
    first.leave();
    last.leave();
    // The control's caller left after `first`, so the ingress has also seen `first` leave.
    await untilState(control, 'cancelled');
    const row = await rowOf(system, body);
    assert.deepEqual([row.state, row.detached_at], ['running', null]);
    answer();
    assert.equal((await second).status, 200);
    await assertUnits(app, 1);
  });
});

import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { hang, ok } from '../support/fake-provider.ts';
import type { HostedPart } from '../support/hosted.ts';
import { rowOf } from '../support/rows.ts';
import { type System, useSystem } from '../support/system.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;

describe('dead worker', () => {
  const system = useSystem({
    apart: true,
    workers: 0,
    env: { LEASE_MS: '3000', PREDICTION_TIMEOUT_MS: '60000', PROVIDER_TIMEOUT_MS: '60000' },
  });
  beforeEach(() => system.provider.reset());
  afterEach(() => Promise.all(system.workers.map((worker) => worker.kill())));

  it('when a worker dies, another takes over its prediction, and the waiting caller gets 200 for one unit #dead-worker #worker-dies', async () => {
    const app = await system.app();
    const victim = await system.startWorker();
    system.provider.next(hang());
    const body = predictionBody();
    const waiting = app.predict(body);
    await system.provider.called(1);
    await system.startWorker();
    await victim.kill();
    const reply = await waiting;
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('idempotency-replayed'), null);
    assert.equal(system.provider.calls.length, 2);
    await assertUnits(app, 1);
  });

  /** Sends a call that the provider leaves without an answer, and that can be aborted with `leave`. */
  const runWithoutAnswer = async (app: AppClient, calls: number, headers: Record<string, string> = {}) => {
    const controller = new AbortController();
    const body = predictionBody();
    app.predict(body, { headers, signal: controller.signal }).catch(() => {});
    await system.provider.called(calls);
    return { body, leave: () => controller.abort() };
  };
  const endOf = (body: Body) =>
    until(async () => {
      const row = await rowOf(system, body);
      return row.ended_at !== null && row;
    }, 40_000);

  it('when a worker dies, another takes over a prediction whose caller has disconnected, and a repeat gets the result #caller-leaves', async () => {
    const app = await system.app();
    const victim = await system.startWorker();
    system.provider.next(hang());
    const { body, leave } = await runWithoutAnswer(app, 1);
    leave();
    await until(async () => (await rowOf(system, body)).detached_at);
    await system.startWorker();
    await victim.kill();
    const { state, code, attempt } = await endOf(body);
    assert.deepEqual([state, code, attempt], ['suggested', null, 2]);
    const reply = await app.predict(body);
    assert.deepEqual([reply.status, reply.headers.get('idempotency-replayed')], [200, 'true']);
    assert.equal(system.provider.calls.length, 2);
    await assertUnits(app, 1);
  });

  it('a prediction that waits again after the death of its worker runs even if its caller leaves, or is cancelled if asked', async () => {
    const app = await system.app();
    const victim = await system.startWorker();
    system.provider.next(hang(), hang());
    const kept = await runWithoutAnswer(app, 1);
    const cancelled = await runWithoutAnswer(app, 2, { 'x-on-disconnect': 'cancel' });
    await victim.kill();
    for (const { body, leave } of [kept, cancelled]) {
      await until(async () => (await rowOf(system, body)).state === 'queued');
      leave();
    }
    assert.equal((await endOf(cancelled.body)).code, 'prediction_cancelled');
    await until(async () => (await rowOf(system, kept.body)).waiters.length === 0);
    await system.startWorker();
    const { state, code, attempt } = await endOf(kept.body);
    assert.deepEqual([state, code, attempt], ['suggested', null, 2]);
    assert.equal(system.provider.calls.length, 3);
    await assertUnits(app, 1);
  });

  it('a frozen worker that wakes up cannot complete work that another worker has taken over #dead-worker #long-freeze', async () => {
    const app = await system.app();
    const frozen = await system.startWorker();
    const second = Promise.withResolvers<void>();
    const froze = Promise.withResolvers<void>();
    system.provider.next(
      async (response, call) => {
        await froze.promise;
        await ok({ continuation: 'the first' })(response, call);
      },
      async (response, call) => {
        await second.promise;
        await ok({ continuation: 'the second' })(response, call);
      },
    );
    const body = predictionBody();
    const waiting = app.predict(body);
    await system.provider.called(1);
    const { worker } = await rowOf(system, body);
    await system.startWorker();
    frozen.freeze(true);
    froze.resolve();
    await system.provider.called(2, 15_000);
    assert.equal((await rowOf(system, body)).attempt, 2);

    frozen.freeze(false);
    // Waits for two heartbeats: between them, the worker has time to handle the answer that waits in its socket.
    const first = await aliveUntil(system, worker);
    await until(async () => (await aliveUntil(system, worker)) > first);
    const row = await rowOf(system, body);
    assert.deepEqual([row.state, row.attempt], ['running', 2]);
    assert.notEqual(row.worker, worker);

    second.resolve();
    const reply = await waiting;
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body.completion, 'the second');
    assert.equal((await app.predict(body)).body.completion, 'the second');
    await assertUnits(app, 1);
  });
});

/** Waits until the process is alive. Returns the time at which its latest lease ends. */
async function aliveUntil({ database }: System<HostedPart>, id: string | null): Promise<number> {
  return until(async () => {
    const { rows } = await database.pool.query<{ at: Date }>(
      'select alive_until as at from processes where id = $1 and alive_until > now()',
      [id],
    );
    return rows[0]?.at.getTime();
  });
}

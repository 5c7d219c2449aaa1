import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { flood, queueMs, tally } from '../support/flood.ts';
import { startLoad } from '../support/load.ts';
import { measureNoise } from '../support/noise.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SLOTS = 16;
const SERVICE_MS = 400;
const HISTORY = 400;
/** Callers of a new app, most of whom wait at any time. */
const FLOOD = 120;

describe('what an app had before', () => {
  let system: System;
  before(async () => {
    system = await startSystem({
      env: {
        WORKER_CONCURRENCY: `${SLOTS}`,
        PREDICTION_TIMEOUT_MS: '60000',
        SANDBOX_UNITS: '1000000',
      },
    });
  });
  after(() => system.stop());

  it('is not held against it when its worker was replaced and forgotten', async () => {
    const app = await system.app();
    system.provider.respond(ok());
    assert.deepEqual(tally(await flood(app, HISTORY)), { 200: HISTORY });
    await Promise.all(system.workers.map((worker) => worker.stop()));
    // As an hour later.
    await system.database.pool.query(`delete from processes where kind <> 'web'`);
    await system.startWorker();
    await expectFairShare(app);
  });

  it('is not held against it when it was cancelled before it ran', async () => {
    const app = await system.app();
    system.provider.respond(delay(SERVICE_MS, ok()));
    const bodies = Array.from({ length: HISTORY }, (_, n) => predictionBody({ user_id: `u-${n}` }));
    const replies = Promise.all(bodies.map((body) => app.predict(body)));
    await until(async () => (await app.usage()).body.reserved_units > HISTORY * 0.8);
    // The latest first, so that a slot that gets free finds little to run.
    await Promise.all(bodies.toReversed().map(({ request_id, user_id }) => app.cancel(request_id, user_id)));
    const { 200: answered = 0, ...others } = tally(await replies);
    assert.deepEqual(others, { '499 prediction_cancelled': HISTORY - answered });
    assert.ok(answered < HISTORY / 2, `${answered} ran before they were cancelled`);
    await expectFairShare(app);
  });

  /** Calls of the app, one after the other, pass a new app's that floods. */
  async function expectFairShare(app: AppClient): Promise<void> {
    system.provider.respond(delay(SERVICE_MS, ok()));
    const newcomer = await system.app();
    const noise = measureNoise(app);
    const flooding = startLoad((body) => newcomer.predict(body), { callers: FLOOD });
    try {
      await until(() => flooding.calls.length >= 2 * SLOTS);
      const waits: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const reply = await app.predict(predictionBody());
        assert.equal(reply.status, 200, reply.text);
        waits.push(Math.round(queueMs(reply)));
      }
      assert.ok(
        Math.max(...waits) < 2 * SERVICE_MS + noise.slowest,
        `waited ${waits} ms at ${SERVICE_MS} ms a call, with ${noise.slowest} of noise`,
      );
    } finally {
      await noise.stop();
      await flooding.stop();
    }
  }
});

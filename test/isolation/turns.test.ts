import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { flood, queueMs, tally } from '../support/flood.ts';
import { startLoad } from '../support/load.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const SLOTS = 16;
const SERVICE_MS = 400;
const PAST_CALLS = 400;
const FLOOD_CALLERS = 120;

describe('past work of an app', function () {
  this.timeout(60_000);
  const system = useProcesses({
    env: {
      WORKER_CONCURRENCY: `${SLOTS}`,
      PREDICTION_TIMEOUT_MS: '60000',
      SANDBOX_UNITS: '1000000',
    },
  });

  it("work that has ended does not lower its app's share of slots, even after the worker that ran it was replaced", async () => {
    const app = await system.app();
    system.provider.respond(ok());
    assert.deepEqual(tally(await flood(app, PAST_CALLS)), { 200: PAST_CALLS });
    await Promise.all(system.workers.map((worker) => worker.stop()));
    // Deletes the rows of the stopped workers, as the housekeeping does after an hour.
    await system.database.pool.query(`delete from processes where kind <> 'web'`);
    await system.startWorker();
    await expectFairShare(app);
  });

  it("work that was cancelled before it ran does not lower its app's share of slots", async () => {
    const app = await system.app();
    system.provider.respond(delay(SERVICE_MS, ok()));
    const bodies = Array.from({ length: PAST_CALLS }, (_, n) => predictionBody({ user_id: `u-${n}` }));
    const replies = Promise.all(bodies.map((body) => app.predict(body)));
    await until(async () => (await app.usage()).body.reserved_units > PAST_CALLS * 0.8);
    // Cancels the latest first, so that a freed slot finds little to run.
    await Promise.all(bodies.toReversed().map(({ request_id, user_id }) => app.cancel(request_id, user_id)));
    const { 200: answered = 0, ...others } = tally(await replies);
    assert.deepEqual(others, { '499 prediction_cancelled': PAST_CALLS - answered });
    assert.ok(answered < PAST_CALLS / 2, `${answered} ran before they were cancelled`);
    await expectFairShare(app);
  });

  /**
   * Asserts that, during a new app's flood, the app's calls wait about as long as calls of an app without past work.
   */
  async function expectFairShare(app: AppClient): Promise<void> {
    system.provider.respond(delay(SERVICE_MS, ok()));
    const [newcomer, other] = [await system.app(), await system.app()];
    const flooding = startLoad((body) => newcomer.predict(body), { callers: FLOOD_CALLERS });
    try {
      await until(() => flooding.calls.length >= 2 * SLOTS);
      const [waits, usual] = await Promise.all([waitsOf(app), waitsOf(other)]);
      // All apps wait longer if the machine is too busy for the flood.
      const bound = Math.max(2 * SERVICE_MS, Math.max(...usual) + SERVICE_MS);
      assert.ok(Math.max(...waits) < bound, `waited ${waits} ms, another app ${usual} ms`);
    } finally {
      await flooding.stop();
    }
  }
});

async function waitsOf(app: AppClient): Promise<number[]> {
  const waits: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const reply = await app.predict(predictionBody());
    assert.equal(reply.status, 200, reply.text);
    waits.push(Math.round(queueMs(reply)));
  }
  return waits;
}

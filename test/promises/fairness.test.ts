import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok, when } from '../support/fake-provider.ts';
import { flood, queueMs, tally } from '../support/flood.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SERVICE_MS = 500;

describe('fairness', () => {
  let system: System;
  before(async () => {
    // Thirty-two at once, so that a flood of hundreds stays in the queue for seconds.
    system = await startSystem({ env: { WORKER_CONCURRENCY: '32', PREDICTION_TIMEOUT_MS: '30000' } });
  });
  after(() => system.stop());

  /** The state of each of the app's predictions that has not ended. */
  const liveOf = async ({ id }: AppClient): Promise<string[]> => {
    const { rows } = await system.database.pool.query('select state from work where party = $1', [id]);
    return rows.map(({ state }) => state);
  };

  it('lets an app with few calls pass one that floods, however many users the flood has', async () => {
    const flooding = await system.app();
    const polite = await system.app();
    const isAdmitted = Promise.withResolvers<void>();
    system.provider.respond(when(isAdmitted.promise, delay(SERVICE_MS, ok())));
    const replies = flood(flooding, 300);
    await until(async () => (await liveOf(flooding)).length === 300);
    isAdmitted.resolve();
    const waits: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const reply = await polite.predict(predictionBody());
      assert.equal(reply.status, 200, reply.text);
      waits.push(queueMs(reply));
      if (n === 0) assert.ok((await liveOf(flooding)).includes('queued'), 'the flood itself has to wait');
      await sleep(SERVICE_MS);
    }
    const slowest = Math.max(...waits);
    assert.ok(
      slowest < 2 * SERVICE_MS,
      `waited ${waits.map(Math.round)} ms, two service times are ${2 * SERVICE_MS}`,
    );
    // Alone, the flooding app gets everything.
    assert.deepEqual(tally(await replies), { '200': 300 });
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { queueMs } from '../support/flood.ts';
import { type System, startSystem } from '../support/system.ts';

const SERVICE_MS = 500;

describe('fairness', () => {
  let system: System;
  before(async () => {
    // Thirty-two at once, so that a flood of hundreds stays in the queue for seconds.
    system = await startSystem({ env: { WORKER_CONCURRENCY: '32', PREDICTION_TIMEOUT_MS: '30000' } });
    system.provider.respond(delay(SERVICE_MS, ok()));
  });
  after(() => system.stop());

  it('lets an app with few calls pass one that floods, however many users the flood has', async () => {
    const flooding = await system.app();
    const polite = await system.app();
    const flood = Array.from({ length: 300 }, (_, n) =>
      flooding.predict(predictionBody({ user_id: `u-${n}` })),
    );
    const waits: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      await sleep(SERVICE_MS);
      const reply = await polite.predict(predictionBody());
      assert.equal(reply.status, 200, reply.text);
      waits.push(queueMs(reply));
    }
    const slowest = Math.max(...waits);
    assert.ok(
      slowest < 2 * SERVICE_MS,
      `waited ${waits.map(Math.round)} ms, two service times are ${2 * SERVICE_MS}`,
    );
    const replies = await Promise.all(flood);
    assert.ok(Math.max(...replies.map(queueMs)) > 2 * SERVICE_MS, 'the flood itself had to wait');
    assert.ok(
      replies.every(({ status }) => status === 200),
      'alone, the flooding app gets everything',
    );
  });
});

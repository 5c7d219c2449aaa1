import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { flood, queueMs, tally } from '../support/flood.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SERVICE_MS = 500;

describe('fairness', () => {
  // The worker runs 16 calls at once, so that a flood of 300 stays in the queue for seconds.
  const system = useSystem({ env: { WORKER_CONCURRENCY: '16', PREDICTION_TIMEOUT_MS: '30000' } });
  before(async () => {
    system.provider.respond(delay(SERVICE_MS, ok()));
  });

  const hasBacklog = async ({ id }: AppClient): Promise<boolean> => {
    const queued = `select from work where party = $1 and state = 'queued'`;
    return ((await system.database.pool.query(queued, [id])).rowCount ?? 0) > 16;
  };

  it("while another app floods the queue, an app's call waits less than the duration of two provider calls #flood", async () => {
    const flooding = await system.app();
    const polite = await system.app();
    const replies = flood(flooding, 300);
    await until(() => hasBacklog(flooding));
    const waits: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const reply = await polite.predict(predictionBody());
      assert.equal(reply.status, 200, reply.text);
      waits.push(queueMs(reply));
      await sleep(SERVICE_MS);
    }
    const slowest = Math.max(...waits);
    assert.ok(
      slowest < 2 * SERVICE_MS,
      `waited ${waits.map(Math.round)} ms, two service times are ${2 * SERVICE_MS}`,
    );
    // The flooding app is now alone, and each of its calls is answered.
    assert.deepEqual(tally(await replies), { '200': 300 });
  });
});

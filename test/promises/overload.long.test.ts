import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SERVICE_MS = 400;

describe('overload', () => {
  const system = useSystem({
    env: { WORKER_CONCURRENCY: '16', SANDBOX_UNITS: '1000000' },
  });
  before(async () => {
    system.provider.respond(delay(SERVICE_MS, ok()));
  });

  it('under overload, excess calls are refused with a Retry-After and reserve no unit, and nine of ten accepted calls are answered in time', async () => {
    const app = await system.app();
    const calls: ReturnType<typeof app.predict>[] = [];
    // Sixteen slots of 400 ms serve 40 calls a second. This sends three times as many, for eight seconds.
    for (let n = 0; n < 80; n += 1) {
      for (let m = 0; m < 12; m += 1) calls.push(app.predict(predictionBody({ user_id: `u-${m}` })));
      await sleep(100);
    }
    const replies = await Promise.all(calls);
    const accepted = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ code }) => code === 'overloaded');
    const late = replies.filter(({ code }) => code === 'prediction_timeout');
    assert.equal(accepted.length + refused.length + late.length, replies.length);
    assert.ok(refused.length > replies.length / 20, `${refused.length} of ${replies.length} refused`);
    assert.ok(late.length < accepted.length / 10, `${late.length} late, ${accepted.length} in time`);
    assert.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1));
    const usage = await app.usage();
    assert.equal(usage.body.prediction_units, accepted.length);
    assert.equal(usage.body.reserved_units, 0);
  });

  it('every call is accepted again within seconds of the end of an overload', async () => {
    const app = await system.app();
    await until(async () => (await app.predict(predictionBody())).status === 200, 5000);
    const replies = await Promise.all(Array.from({ length: 20 }, () => app.predict(predictionBody())));
    assert.ok(replies.every(({ status }) => status === 200));
  });

  it('overload leaves no request with the code overloaded in the history', async () => {
    const app = await system.app();
    const { rows } = await system.database.pool.query(
      `select count(*)::int as refused from history where code = 'overloaded'`,
    );
    assert.equal(rows[0].refused, 0);
    const body = predictionBody();
    assert.equal((await app.predict(body)).headers.get('idempotency-replayed'), null);
  });
});

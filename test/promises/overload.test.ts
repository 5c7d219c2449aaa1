import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { endOf } from '../support/flood.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SERVICE_MS = 400;

describe('overload', () => {
  const system = useSystem({
    env: { WORKER_CONCURRENCY: '16', SANDBOX_UNITS: '1000000' },
  });
  let app: AppClient;
  let calls: { body: ReturnType<typeof predictionBody>; reply: Reply<unknown> }[] = [];
  before(async () => {
    app = await system.app();
    system.provider.respond(delay(SERVICE_MS, ok()));
  });

  it('under overload, excess calls are refused with a Retry-After, and nine of ten accepted calls are answered in time #overload', async () => {
    const sent: Promise<(typeof calls)[number]>[] = [];
    // Sixteen slots of 400 ms serve 40 calls a second. This sends three times as many, for eight seconds.
    for (let n = 0; n < 80; n += 1) {
      for (let m = 0; m < 12; m += 1) sent.push(predict(predictionBody({ user_id: `u-${m}` })));
      await sleep(100);
    }
    calls = await Promise.all(sent);
    const replies = calls.map(({ reply }) => reply);
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

  it('every call is accepted again within 5 s of the end of an overload', async () => {
    const another = await system.app();
    await until(async () => (await another.predict(predictionBody())).status === 200, 5000);
    const replies = await Promise.all(Array.from({ length: 20 }, () => another.predict(predictionBody())));
    assert.ok(replies.every(({ status }) => status === 200));
  });

  it('a request that was refused as overloaded leaves no row, and counts as new when it is repeated', async () => {
    const rows = await system.sql<{ id: string }>(
      `select facts::json ->> 'requestId' as id from (select facts from work union all select facts from history) r`,
    );
    const stored = new Set(rows.map(({ id }) => id));
    for (const { body, reply } of calls)
      assert.equal(stored.has(body.request_id), reply.code !== 'overloaded', `answered ${endOf(reply)}`);
    const refused = calls.find(({ reply }) => reply.code === 'overloaded');
    assert.ok(refused);
    const again = await app.predict(refused.body);
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, null]);
  });

  async function predict(body: ReturnType<typeof predictionBody>) {
    return { body, reply: await app.predict(body) };
  }
});

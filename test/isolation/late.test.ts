import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { lockRow, type RowLock } from '../support/row-lock.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const DEADLINE_MS = 3000;
const SERVICE_MS = 2000;
/** Time for which a retry may get `request_in_flight`. */
const IN_FLIGHT_MS = 1000;

describe('calls that got 503', () => {
  const system = useProcesses({ env: { PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}` } });
  let app: AppClient;
  beforeEach(async () => {
    app = await system.app();
    system.provider.reset();
    await app.predict(predictionBody());
  });

  it('a call that gets 503 because a lock delayed its admission can be retried within a second, and runs once, for one unit #locked-rows', async () => {
    system.provider.respond(delay(SERVICE_MS, ok()));
    const body = await predictRefused();
    const released = performance.now();
    const retry = await until(async () => {
      const reply = await app.predict(body);
      assert.ok([200, 409].includes(reply.status), reply.text);
      if (reply.status === 200) return reply;
      const inFlightMs = performance.now() - released;
      assert.ok(inFlightMs < IN_FLIGHT_MS, `${reply.text} after ${inFlightMs} ms`);
      return undefined;
    });
    assert.equal(retry.headers.get('idempotency-replayed'), null);
    const calls = system.provider.calls.filter(({ record }) => record.draft === body.draft.text);
    assert.equal(calls.length, 1, 'asked once');
    await expectUnits(2);
  });

  /** Sends a request that is refused because of a lock; returns its body. */
  async function predictRefused() {
    const body = predictionBody({ draft: { text: 'Held up ', revision: 1 } });
    const lock = await lockUsage();
    const reply = await app.predict(body).finally(() => lock.release());
    assert.deepEqual([reply.status, reply.code], [503, 'service_unavailable'], reply.text);
    assert.ok(Number(reply.headers.get('retry-after')) >= 1);
    assert.ok(reply.tookMs < DEADLINE_MS + 1000, `after ${reply.tookMs} ms`);
    return body;
  }

  function lockUsage(): Promise<RowLock> {
    return lockRow(system, 'usage', 'app_id = $1', [app.id]);
  }

  async function expectUnits(units: number): Promise<void> {
    await until(async () => (await app.usage()).body.reserved_units === 0, DEADLINE_MS + 2000);
    assert.equal((await app.usage()).body.prediction_units, units);
  }
});

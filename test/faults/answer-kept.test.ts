import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { ok, when } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { takeDown } from '../support/outage.ts';
import { useOwnServer } from '../support/own-server.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const CALLERS = 40;
const DOWN_MS = 2500;

describe('kept answers', function () {
  this.timeout(60_000);
  const server = useOwnServer();
  // An empty LEASE_MS means the default lease.
  const system = useSystem({ env: { LEASE_MS: '', PREDICTION_TIMEOUT_MS: '20000' } });

  it('answers that arrive while PostgreSQL is down reach all callers, and at most a tenth of the provider calls are repeated', async () => {
    const app = await system.app();
    const { promise: isDown, resolve: answer } = Promise.withResolvers<void>();
    system.provider.respond(when(isDown, ok()));
    const asked = Promise.all(Array.from({ length: CALLERS }, () => app.predict(predictionBody())));
    asked.catch(() => {});
    await system.provider.called(CALLERS, 15_000);
    await takeDown(
      {
        ...server,
        async stop(how) {
          await server.stop(how);
          answer();
        },
      },
      DOWN_MS,
      'fast',
    );
    assert.deepEqual(tally(await asked), { 200: CALLERS });
    await until(() => system.provider.running === 0);
    const { length } = system.provider.calls;
    assert.ok(length <= 1.1 * CALLERS, `${length} calls of the provider for ${CALLERS} predictions`);
    const { body: usage } = await app.usage();
    assert.deepEqual([usage.prediction_units, usage.reserved_units], [CALLERS, 0]);
  });
});

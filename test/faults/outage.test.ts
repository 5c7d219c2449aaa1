import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { ok, when } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { brokenPromises, endure, freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { useOwnServer } from '../support/own-server.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const CALLERS = 40;

describe('outages', () => {
  const server = useOwnServer();
  const system = useProcesses(OUTAGE_INSTALLATION);
  afterEach(() => {
    const gone = [...system.webs, ...system.workers].filter(
      ({ child }) => child.exitCode !== null || child.signalCode !== null,
    );
    assert.equal(gone.length, 0, 'a process ended');
  });

  async function assertEndures(fail: () => Promise<void>): Promise<void> {
    const run = await endure(system, fail);
    assert.deepEqual(brokenPromises(run), [], JSON.stringify(run));
  }

  it('calls during a 3 s stop of PostgreSQL get 200 or a documented error, succeed when repeated, and cost one unit each #postgres-outage', () =>
    assertEndures(() => takeDown(server, 3000, 'fast')));

  it('calls in the 4 s after a PostgreSQL crash get 200 or a documented error, succeed when repeated, and cost one unit each #postgres-crash', () =>
    assertEndures(() => takeDown(server, 4000, 'immediate')));

  it('calls while an ingress is frozen for 4 s get 200 or a documented error, succeed when repeated, and cost one unit each #freeze', () =>
    assertEndures(() => freeze(system.webs[0], 4000)));

  it('calls while a worker is frozen for 4 s get 200 or a documented error, succeed when repeated, and cost one unit each #freeze', () =>
    assertEndures(() => freeze(system.workers[0], 4000)));

  it('answers that arrive while PostgreSQL is down reach all callers, and at most a tenth of the provider calls are repeated #unstorable #postgres-outage', async () => {
    const app = await system.app();
    system.provider.reset();
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
      2500,
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

import assert from 'node:assert/strict';
import { brokenPromises, endure, freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { useOwnServer } from '../support/own-server.ts';
import { useProcesses } from '../support/system.ts';

/** Outages of other durations are in `test/acceptance/outages.ts`, which is run by hand. */
describe('outages', function () {
  this.timeout(90_000);
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

  it('calls during a 3 s stop of PostgreSQL get 200 or a documented error, succeed when repeated, and cost one unit each', () =>
    assertEndures(() => takeDown(server, 3000, 'fast')));

  it('calls in the 4 s after a PostgreSQL crash get 200 or a documented error, succeed when repeated, and cost one unit each', () =>
    assertEndures(() => takeDown(server, 4000, 'immediate')));

  it('calls while an ingress is frozen for 4 s get 200 or a documented error, succeed when repeated, and cost one unit each', () =>
    assertEndures(() => freeze(system.webs[0], 4000)));

  it('calls while a worker is frozen for 4 s get 200 or a documented error, succeed when repeated, and cost one unit each', () =>
    assertEndures(() => freeze(system.workers[0], 4000)));
});

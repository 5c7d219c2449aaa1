import assert from 'node:assert/strict';
import { brokenPromises, endure, freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { type OwnServer, startOwnServer } from '../support/own-server.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** Other durations are run by hand: `test/acceptance/outages.ts`. */
describe('an outage that callers wait through', function () {
  this.timeout(90_000);
  let server: OwnServer;
  let system: System<TestProcess>;
  before(async () => {
    server = await startOwnServer();
    system = await startProcesses(OUTAGE_INSTALLATION);
  });
  after(async () => {
    await system?.stop();
    await server?.close();
  });
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

  it('PostgreSQL is down for 3 s: no waiting caller is cancelled, no provider call is repeated', () =>
    assertEndures(() => takeDown(server, 3000, 'fast')));

  it('PostgreSQL fails over in 4 s: the same', () =>
    assertEndures(() => takeDown(server, 4000, 'immediate')));

  it('an ingress freezes for 4 s: the same', () => assertEndures(() => freeze(system.webs[0], 4000)));

  it('a worker freezes for 4 s: the same', () => assertEndures(() => freeze(system.workers[0], 4000)));
});

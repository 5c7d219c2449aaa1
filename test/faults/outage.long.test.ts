import assert from 'node:assert/strict';
import { brokenPromises, endure, freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { useOwnServer } from '../support/own-server.ts';
import { useProcesses } from '../support/system.ts';

/** `test/acceptance/outages.ts` runs other durations by hand. */
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

  it('waiting callers get their answers across 3 s without PostgreSQL, and no provider call is repeated', () =>
    assertEndures(() => takeDown(server, 3000, 'fast')));

  it('waiting callers get their answers across a PostgreSQL crash and 4 s without PostgreSQL, and no provider call is repeated', () =>
    assertEndures(() => takeDown(server, 4000, 'immediate')));

  it('waiting callers get their answers although the ingress is frozen for 4 s, and no provider call is repeated', () =>
    assertEndures(() => freeze(system.webs[0], 4000)));

  it('waiting callers get their answers although the worker is frozen for 4 s, and no provider call is repeated', () =>
    assertEndures(() => freeze(system.workers[0], 4000)));
});

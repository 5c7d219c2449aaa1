import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { brokenPromises, endure, freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { type OwnServer, startOwnServer } from '../support/own-server.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/**
 * By hand: forty callers wait while PostgreSQL is down, after a clean stop and after a crash, and while a process is
 * frozen. `bin/node test/acceptance/outages.ts --seconds 1.5,3,4,8 --freeze 4 --rounds 1`; exits with 1 if a promise
 * was broken.
 */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1.5,3,4,8' },
    freeze: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
  },
});

function faults(server: OwnServer, system: System<TestProcess>): Map<string, () => Promise<void>> {
  const faultsByName = new Map<string, () => Promise<void>>();
  const lengths = (list: string) =>
    list.split(',').flatMap((seconds) => (seconds === '' ? [] : [1000 * Number(seconds)]));
  for (const ms of lengths(options.seconds)) {
    for (const how of ['fast', 'immediate'] as const)
      faultsByName.set(`PostgreSQL down for ${ms} ms, ${how}`, () => takeDown(server, ms, how));
  }
  for (const ms of lengths(options.freeze)) {
    faultsByName.set(`an ingress stands still for ${ms} ms`, () => freeze(system.webs[0], ms));
    faultsByName.set(`a worker stands still for ${ms} ms`, () => freeze(system.workers[0], ms));
  }
  return faultsByName;
}

await using _ = await setUp();
await using server = await startOwnServer();
await using system = await startProcesses(OUTAGE_INSTALLATION);
let isKept = true;
for (let round = 1; round <= Number(options.rounds); round += 1) {
  for (const [fault, fail] of faults(server, system)) {
    const run = await endure(system, fail);
    const broken = brokenPromises(run);
    isKept &&= broken.length === 0;
    process.stdout.write(`${JSON.stringify({ round, fault, ...run, broken })}\n`);
  }
}
process.exitCode = isKept ? 0 : 1;

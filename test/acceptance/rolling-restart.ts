import { setUp } from '../setup.ts';
import { rollingRestart } from '../support/rolling-restart.ts';
import { interruptionsIn } from '../support/under-load.ts';

/**
 * By hand: two ingresses behind a balancer and two workers are each restarted in turn, ten times, at 100 requests a
 * second. Exits with 1 if a restart interrupted calls, or a process did not exit with 0.
 */
await using _ = await setUp();
const run = await rollingRestart({ rounds: 10, perSecond: 100 });
const broken = interruptionsIn(run);
console.log(JSON.stringify({ ...run, exits: run.exits.join(), broken }, undefined, 2));
process.exitCode = broken.length === 0 && run.exits.every((code) => code === 0) ? 0 : 1;

import { setUp } from '../setup.ts';
import { rollingRestart } from '../support/rolling-restart.ts';
import { interruptionsIn } from '../support/under-load.ts';

/** By hand: restarts two ingresses behind a balancer and two workers in turn, ten times, at 100 requests a second. */
await using _ = await setUp();
const run = await rollingRestart({ rounds: 10, perSecond: 100 });
const broken = interruptionsIn(run);
console.log(JSON.stringify({ ...run, exits: run.exits.join(), broken }, undefined, 2));
process.exitCode = broken.length === 0 && run.exits.every((code) => code === 0) ? 0 : 1;

import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { brokenPromises, rollingRestart } from '../support/rolling-restart.ts';

/** By hand: two ingresses and two workers, each restarted in turn five times at 100 requests a second. */
await mochaGlobalSetup();
try {
  const run = await rollingRestart({ rounds: 5, perSecond: 100 });
  const broken = brokenPromises(run);
  console.log(JSON.stringify({ ...run, broken }, undefined, 2));
  process.exitCode = broken.length === 0 ? 0 : 1;
} finally {
  await mochaGlobalTeardown();
}

import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { predictionBody } from '../support/client.ts';
import { slowest, tally } from '../support/flood.ts';
import { undocumentedAnswers, whileRowIsHeld } from '../support/held-row.ts';
import { startProcesses } from '../support/system.ts';

/** By hand: an app's usage row is locked for 6 s, and for 13 s, which is longer than its calls may wait. */
const DEADLINE_MS = 10_000;
const DELAY_MAX_MS = 300;

await using _ = await setUp();
await using system = await startProcesses({
  env: { PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`, SANDBOX_UNITS: '1000000' },
});
for (const heldMs of [6000, 13_000]) {
  const run = await measureWhileLocked(heldMs);
  console.log(JSON.stringify(run, undefined, 2));
  if (run.broken.length > 0) process.exitCode = 1;
}

async function measureWhileLocked(heldMs: number) {
  const [app, other] = [await system.app(), await system.app()];
  await app.predict(predictionBody());
  const { own, first, others, noise } = await whileRowIsHeld(system, {
    ...{ table: 'usage', where: 'app_id = $1', values: [app.id], heldMs },
    victim: { app },
    others: [{ app: other }],
  });
  const { before = [], during = [] } = others[0] ?? {};
  const wrong = undocumentedAnswers(own, DEADLINE_MS);
  const broken = unkept([
    [during.every(({ status }) => status === 200), 'no call of the other app fails'],
    [
      slowest(during) < slowest(before) + DELAY_MAX_MS + noise.slowest,
      'none takes 0.3 s longer than the slowest before',
    ],
    [wrong.length === 0, 'the app’s own calls end as documented'],
    [first.status === 200, 'the app’s first call after the release is answered'],
  ]);
  return {
    heldMs,
    otherBefore: tally(before),
    otherBeforeSlowestMs: slowest(before),
    otherDuring: tally(during),
    otherDuringSlowestMs: slowest(during),
    noiseMs: Math.round(noise.slowest),
    own: tally(own),
    ownSlowestMs: slowest(own),
    wrong,
    firstMs: slowest([first]),
    broken,
  };
}

import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { type Collapse, callsBetween, hangUnderLoad, refusedCalls } from '../support/collapse.ts';
import { tally } from '../support/flood.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { startProcesses } from '../support/system.ts';

/** By hand: a provider that serves 160 calls a second gets 130, hangs for 4.5 s, then recovers. */
const SLOTS = 8;
const SERVICE_MS = 50;
const PER_SECOND = 130;

await using _ = await setUp();
await using system = await startProcesses({
  env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' },
});
const run = report(await hangUnderLoad(system, { perSecond: PER_SECOND, serviceMs: SERVICE_MS }));
console.log(JSON.stringify(run, undefined, 2));
process.exitCode = run.broken.length === 0 ? 0 : 1;

function report({ calls, hungAt, recoveredAt, noise }: Collapse) {
  const hanging = callsBetween(calls, hungAt, recoveredAt);
  const refusals = refusedCalls(hanging);
  const times = refusals.map(({ tookMs }) => tookMs);
  const firstMs = (refusals[0]?.at ?? Number.POSITIVE_INFINITY) - hungAt;
  const failedLater = callsBetween(calls, recoveredAt, Number.POSITIVE_INFINITY).filter(
    ({ status }) => status !== 200,
  );
  const lastMs = Math.max(0, ...failedLater.map(({ at }) => at - recoveredAt));
  const broken = unkept([
    [firstMs < 2000, 'refusals begin within 2 s'],
    [percentile(times, 0.95) < 50 + noise.slowest, '95 of 100 refusals come within 50 ms, but for the noise'],
    [lastMs < 2000, 'all calls succeed 2 s after the provider is well'],
  ]);
  return {
    healthy: tally(callsBetween(calls, 0, hungAt)),
    hanging: tally(hanging),
    firstRefusalMs: Math.round(firstMs),
    refusalMs: [0.5, 0.95, 1].map((share) => Math.round(percentile(times, share))),
    noiseMs: [0.5, 0.95, 1].map((share) => Math.round(noise.percentile(share))),
    recovered: tally(callsBetween(calls, recoveredAt, Number.POSITIVE_INFINITY)),
    lastFailureMs: Math.round(lastMs),
    broken,
  };
}

import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { delay, ok, when } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { type Answer, KeepAliveClient } from '../support/keep-alive-client.ts';
import { expectWithin, measureNoise, type Noise } from '../support/noise.ts';
import { promisedMs } from '../support/scale.ts';
import { callSteadily } from '../support/steadily.ts';
import { type System, useProcesses } from '../support/system.ts';

/** 8 slots serve 80 calls of 100 ms a second. */
const SLOTS = 8;
const SERVICE_MS = 100;
const PER_SECOND = 35;
const HEALTHY_MS = 2000;
const HANGING_MS = 4500;
const RECOVERED_MS = 4000;
/** Time within which calls are refused after the provider hangs, and accepted after it recovers. */
const NOTICED_MS = 2000;
/** Maximum duration of a refusal. */
const REFUSAL_MS = promisedMs(50, 400);

describe('collapse', () => {
  const system = useProcesses({ env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' } });
  let run: Collapse;
  before(async () => {
    run = await hangUnderLoad(system);
  });

  it('calls made more than a second before the provider hangs all succeed', () => {
    const early = callsBetween(run.calls, 0, run.hungAt - 1000);
    assert.deepEqual(tally(early), { 200: early.length });
  });

  it('the ingress begins to refuse calls within two seconds after a provider hangs under load #overload #slow-calls', () => {
    const { calls, hungAt, recoveredAt } = run;
    const [first] = refusedCalls(callsBetween(calls, hungAt, recoveredAt));
    assert.ok(
      first !== undefined,
      `none: ${JSON.stringify(tally(callsBetween(calls, hungAt, recoveredAt)))}`,
    );
    assert.ok(first.at - hungAt < NOTICED_MS, `after ${first.at - hungAt} ms`);
    const late = callsBetween(calls, hungAt + NOTICED_MS + 500, recoveredAt);
    assert.ok(refusedCalls(late).length > 0.9 * late.length, `from then on: ${JSON.stringify(tally(late))}`);
  });

  it('calls refused while the provider hangs are answered at once, with a Retry-After #overload', () => {
    const refusals = refusedCalls(callsBetween(run.calls, run.hungAt, run.recoveredAt));
    assert.ok(refusals.length > 0, 'none was refused');
    expectWithin(refusals, REFUSAL_MS, run.noise);
    assert.ok(refusals.every(({ retryAfterS = 0 }) => retryAfterS >= 1));
  });

  it('from two seconds after a hanging provider recovers, all calls succeed', () => {
    const later = callsBetween(run.calls, run.recoveredAt + NOTICED_MS, Number.POSITIVE_INFINITY);
    assert.deepEqual(tally(later), { 200: later.length });
  });
});

interface TimedCall extends Answer {
  /** Time at which the call was sent. */
  at: number;
}

interface Collapse {
  calls: TimedCall[];
  hungAt: number;
  recoveredAt: number;
  noise: Noise;
}

/** Calls steadily while the provider is healthy, then hangs, then recovers. */
async function hangUnderLoad(system: System): Promise<Collapse> {
  const app = await system.app();
  const client = new KeepAliveClient(app.key);
  const noise = measureNoise(app);
  const pendingCalls: Promise<TimedCall>[] = [];
  const ask = async () => {
    const at = performance.now();
    return { ...(await client.predict(app.url, predictionBody())), at };
  };
  const load = (forMs: number) => callSteadily(PER_SECOND, forMs, () => pendingCalls.push(ask()));

  system.provider.respond(delay(SERVICE_MS, ok()));
  await load(HEALTHY_MS);
  const recovery = Promise.withResolvers<void>();
  system.provider.respond(when(recovery.promise));
  const hungAt = performance.now();
  await load(HANGING_MS);
  recovery.resolve();
  system.provider.respond(delay(SERVICE_MS, ok()));
  const recoveredAt = performance.now();
  await load(RECOVERED_MS);
  const calls = await Promise.all(pendingCalls);
  await noise.stop();
  client.close();
  return { calls, hungAt, recoveredAt, noise };
}

function callsBetween(calls: TimedCall[], from: number, to: number): TimedCall[] {
  return calls.filter(({ at }) => at >= from && at < to);
}

function refusedCalls(calls: TimedCall[]): TimedCall[] {
  return calls.filter(({ code }) => code === 'overloaded');
}

import assert from 'node:assert/strict';
import { type Collapse, callsBetween, hangUnderLoad, refusedCalls } from '../support/collapse.ts';
import { tally } from '../support/flood.ts';
import { expectWithin } from '../support/noise.ts';
import { useProcesses } from '../support/system.ts';

/** 8 slots serve 80 calls of 100 ms a second. */
const SLOTS = 8;
const SERVICE_MS = 100;
const PER_SECOND = 35;
/** Time within which calls are refused after the provider hangs, and accepted after it recovers. */
const NOTICED_MS = 2000;
/** Maximum duration of a refusal. `test/acceptance/collapse.ts` measures the promised 50 ms. */
const REFUSAL_MS = 400;

describe('collapse', () => {
  const system = useProcesses({ env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' } });
  let run: Collapse;
  before(async function () {
    this.timeout(45_000);
    run = await hangUnderLoad(system, { perSecond: PER_SECOND, serviceMs: SERVICE_MS });
  });

  it('calls made more than a second before the provider hangs all succeed', () => {
    const early = callsBetween(run.calls, 0, run.hungAt - 1000);
    assert.deepEqual(tally(early), { 200: early.length });
  });

  it('the ingress begins to refuse calls within two seconds after a provider hangs under load', () => {
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

  it('calls refused while the provider hangs are answered at once, with a Retry-After', () => {
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

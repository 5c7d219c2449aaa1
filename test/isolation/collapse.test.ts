import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { delay, ok, when } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { type Answer, KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { steadily } from '../support/steadily.ts';
import { type System, startSystem } from '../support/system.ts';

/** Eight slots of 50 ms are 160 calls a second. */
const SLOTS = 8;
const SERVICE_MS = 50;
const PER_SECOND = 110;
const HEALTHY_MS = 2000;
const HANGING_MS = 4500;
const RECOVERED_MS = 4000;
/** How soon after the collapse calls are refused, and how soon after its end none is. */
const NOTICED_MS = 2000;
/** A refusal takes 50 ms; the machine may be busy with other tests. */
const REFUSAL_MS = 50;
const NOISE_MS = 100;

interface Timed extends Answer {
  /** When it was asked. */
  at: number;
}

describe('a provider that hangs in the middle of a load', () => {
  let system: System;
  let calls: Timed[];
  let hung: number;
  let well: number;
  before(async function () {
    this.timeout(45_000);
    system = await startSystem({ env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' } });
    const app = await system.app();
    const client = new KeepAliveClient(app.key);
    const asked: Promise<Timed>[] = [];
    const ask = async () => {
      const at = performance.now();
      return { ...(await client.predict(app.url, predictionBody())), at };
    };
    const load = (forMs: number) => steadily(PER_SECOND, forMs, () => asked.push(ask()));

    system.provider.respond(delay(SERVICE_MS, ok()));
    await load(HEALTHY_MS);
    const recovery = Promise.withResolvers<void>();
    system.provider.respond(when(recovery.promise));
    hung = performance.now();
    await load(HANGING_MS);
    recovery.resolve();
    system.provider.respond(delay(SERVICE_MS, ok()));
    well = performance.now();
    await load(RECOVERED_MS);
    calls = await Promise.all(asked);
    client.close();
  });
  after(() => system.stop());

  it('does nothing to the calls before', () => {
    const early = between(0, hung - 500);
    assert.deepEqual(tally(early), { 200: early.length });
  });

  it('makes the refusals begin within two seconds', () => {
    const first = refused(between(hung, well))[0];
    assert.ok(first !== undefined && first.at - hung < NOTICED_MS, `after ${first && first.at - hung} ms`);
    const late = between(hung + NOTICED_MS + 500, well);
    assert.ok(refused(late).length > 0.9 * late.length, `from then on: ${JSON.stringify(tally(late))}`);
  });

  it('has the refusals come at once, and say when to come again', () => {
    const refusals = refused(between(hung, well));
    const took = refusals.map(({ tookMs }) => tookMs);
    assert.ok(took.length > 0, 'none was refused');
    assert.ok(percentile(took, 0.5) < REFUSAL_MS, `half of them take ${percentile(took, 0.5)} ms`);
    assert.ok(percentile(took, 0.95) < REFUSAL_MS + NOISE_MS, `95 of 100: ${percentile(took, 0.95)} ms`);
    assert.ok(refusals.every(({ retryAfterS = 0 }) => retryAfterS >= 1));
  });

  it('is over two seconds after it is well again: all calls succeed', () => {
    const later = between(well + NOTICED_MS, Number.POSITIVE_INFINITY);
    assert.deepEqual(tally(later), { 200: later.length });
  });

  function between(from: number, to: number): Timed[] {
    return calls.filter(({ at }) => at >= from && at < to);
  }
});

function refused(calls: Timed[]): Timed[] {
  return calls.filter(({ code }) => code === 'overloaded');
}

import assert from 'node:assert/strict';
import { LoadEstimate, type QueueSnapshot } from '../../../shared/domain/load.ts';

const SERVICE_MS = 500;

function snapshot(
  at: number,
  counts: Record<string, number>,
  more: Partial<QueueSnapshot> = {},
): QueueSnapshot {
  return {
    at,
    queuedByApp: new Map(Object.entries(counts)),
    oldestMs: 900,
    claimed: at / 10,
    ...more,
  };
}

/** An estimate that has seen the workers take 100 predictions a second while a queue stood. */
function measured(counts: Record<string, number>): LoadEstimate {
  const load = new LoadEstimate();
  load.observe(snapshot(0, counts));
  load.observe(snapshot(1000, counts));
  return load;
}

describe('the estimate of the load', () => {
  it('expects no wait while no queue stands', () => {
    const load = new LoadEstimate();
    assert.equal(load.answerMs('a'), 0);
    load.observe(snapshot(0, { a: 1000 }, { oldestMs: 5 }));
    assert.equal(load.answerMs('a'), 0);
  });

  it('refuses nobody before it has measured anything', () => {
    const load = new LoadEstimate();
    load.observe(snapshot(0, { a: 100 }));
    assert.equal(load.answerMs('a'), 0);
  });

  it('divides what waits by what the workers were seen to take', () => {
    assert.equal(measured({ a: 500 }).answerMs('a'), 5000 + SERVICE_MS);
  });

  it('lets an app with little go before one with much', () => {
    const load = measured({ flood: 1000, small: 1 });
    assert.equal(load.answerMs('newcomer'), 20 + SERVICE_MS);
    assert.equal(load.answerMs('small'), 30 + SERVICE_MS);
    assert.equal(load.answerMs('flood'), 10_010 + SERVICE_MS);
  });

  it('does not take a quiet hour for slow workers', () => {
    const load = measured({ a: 10 });
    for (const at of [2000, 60_000, 120_000]) {
      load.observe(snapshot(at, { a: 3 }, { oldestMs: 5, claimed: 110 + at / 60_000 }));
      for (let n = 0; n < 1000; n += 1) load.joined('a');
      assert.equal(load.answerMs('a'), 0);
    }
  });

  it('starts its measurement anew when a worker died and took its count along', () => {
    const load = measured({ a: 100 });
    load.observe(snapshot(2000, { a: 100 }, { claimed: 5 }));
    assert.equal(load.answerMs('a'), 1000 + SERVICE_MS);
  });

  it('counts what joined since the latest snapshot', () => {
    const load = measured({ a: 100 });
    for (let n = 0; n < 100; n += 1) load.joined('a');
    assert.equal(load.answerMs('a'), 2000 + SERVICE_MS);
  });

  it('learns how long the work itself takes', () => {
    const load = measured({ a: 100 });
    for (let n = 0; n < 100; n += 1) load.served(2000);
    assert.ok(Math.abs(load.answerMs('a') - 3000) < 1);
  });

  it('forgets what it measured while the queue was away', () => {
    const load = measured({ a: 500 });
    load.forget();
    load.observe(snapshot(2000, { a: 500 }));
    assert.equal(load.answerMs('a'), 0);
  });
});

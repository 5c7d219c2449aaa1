import assert from 'node:assert/strict';
import { LoadEstimate, type QueueSnapshot } from '../../../shared/domain/load.ts';
import { QueueModel } from '../../support/queue-model.ts';

const SERVICE_MS = 500;

/** Full slots, and a standing queue. */
function snapshot(
  at: number,
  counts: Record<string, number>,
  more: Partial<QueueSnapshot> = {},
): QueueSnapshot {
  return {
    at,
    ageMs: 0,
    queuedByParty: new Map(Object.entries(counts)),
    oldestMs: 900,
    claimed: at / 10,
    lastClaimMs: 10,
    running: 16,
    workers: 1,
    slots: 16,
    ...more,
  };
}

/** An estimate at 1000 ms that has seen the workers take 100 a second from a standing queue. */
function measured(counts: Record<string, number>, more: Partial<QueueSnapshot> = {}): LoadEstimate {
  const load = new LoadEstimate();
  for (const at of [0, 100, 600, 1000]) load.observe(snapshot(at, counts, more));
  return load;
}

const closeTo = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1, `${actual}, not about ${expected}`);

describe('the estimate of the load', () => {
  it('expects no wait without a standing queue', () => {
    const load = new LoadEstimate();
    assert.equal(load.answerMs('a', 0), 0);
    load.observe(snapshot(0, { a: 1000 }, { oldestMs: 5 }));
    assert.equal(load.answerMs('a', 0), 0);
  });

  it('divides the work ahead by the measured rate of the workers', () => {
    closeTo(measured({ a: 500 }).answerMs('a', 1000), 5010 + SERVICE_MS);
  });

  it('puts a party with little ahead of one with much', () => {
    const load = measured({ flood: 1000, small: 1 });
    closeTo(load.answerMs('newcomer', 1000), 30 + SERVICE_MS);
    closeTo(load.answerMs('small', 1000), 40 + SERVICE_MS);
    closeTo(load.answerMs('flood', 1000), 10_020 + SERVICE_MS);
  });

  it('uses the age of the oldest as the wait of a newcomer, before it has measured anything', () => {
    const load = new LoadEstimate();
    load.observe(snapshot(0, { a: 800 }, { oldestMs: 8000, claimed: 1e6 }));
    closeTo(load.answerMs('a', 0), 8010 + SERVICE_MS);
    closeTo(load.answerMs('newcomer', 0), 20 + SERVICE_MS);
  });

  it('counts work that joined since the latest snapshot', () => {
    const load = measured({ a: 100 });
    for (let n = 0; n < 100; n += 1) load.joined('a');
    closeTo(load.answerMs('a', 1000), 2010 + SERVICE_MS);
  });

  it('expects no wait for a newcomer while slots are free that a flood may not have', () => {
    const load = measured({ flood: 1000 }, { running: 14 });
    assert.ok(load.answerMs('flood', 1000) > 10_000);
    assert.equal(load.answerMs('newcomer', 1000), 0);
    for (const party of ['flood', 'newcomer', 'newcomer']) load.joined(party);
    assert.equal(load.answerMs('another', 1000), 0);
    load.joined('another');
    assert.ok(load.answerMs('a third', 1000) > SERVICE_MS, 'both free slots are taken');
  });

  it('learns how long the work itself takes', () => {
    const load = measured({ a: 99 });
    for (let n = 0; n < 100; n += 1) load.served(2000);
    closeTo(load.answerMs('a', 1000), 3000);
  });

  it('assumes at most three claims in a time in which it saw none', () => {
    const load = measured({ a: 29 });
    load.observe(snapshot(1200, { a: 29 }, { claimed: 100, lastClaimMs: 1000 }));
    closeTo(load.answerMs('a', 1200), 10_000 + SERVICE_MS);
  });

  it('is not misled by slots that are filled together and freed together', () => {
    const load = measured({ a: 29 });
    for (let n = 0; n < 100; n += 1) load.served(2000);
    load.observe(snapshot(1200, { a: 29 }, { claimed: 100, lastClaimMs: 1900 }));
    closeTo(load.answerMs('a', 1200), 300 + 2000);
  });

  it('expects no wait while slots are free: the rest waits for a ticket', () => {
    assert.equal(measured({ a: 500 }, { running: 3, claimed: 7, lastClaimMs: 5000 }).answerMs('a', 1000), 0);
    assert.equal(measured({ a: 500 }, { running: 0, lastClaimMs: null }).answerMs('a', 1000), 0);
  });

  it('measures a lone flood, too, which never gets all slots', () => {
    closeTo(measured({ a: 500 }, { running: 12 }).answerMs('a', 1000), 5010 + SERVICE_MS);
  });

  it('restarts its measurement when a worker came or went with its count', () => {
    for (const more of [{ claimed: 5 }, { claimed: 1e6, workers: 2 }]) {
      const load = measured({ a: 100 });
      load.observe(snapshot(2000, { a: 100 }, { oldestMs: 1000, ...more }));
      closeTo(load.answerMs('a', 2000), 1010 + SERVICE_MS);
    }
  });

  it('expects no answer without a worker, whatever it has measured', () => {
    const load = new LoadEstimate();
    load.observe(snapshot(0, {}, { oldestMs: 0, workers: 0, slots: 0, running: 0, lastClaimMs: null }));
    assert.equal(load.answerMs('a', 0), Number.POSITIVE_INFINITY);
    assert.equal(load.isStrained, true);
    load.observe(snapshot(200, {}, { oldestMs: 0, running: 0, lastClaimMs: null }));
    assert.equal(load.answerMs('a', 200), 0);
    assert.equal(load.isStrained, false);
  });

  it('ignores a snapshot that is too old, and uses the next one', () => {
    for (const more of [{ workers: 0, slots: 0 }, { oldestMs: 20_000 }]) {
      const load = new LoadEstimate();
      load.observe(snapshot(0, { a: 100 }, { ...more, ageMs: 1500 }));
      assert.ok(load.answerMs('a', 400) > 7000);
      assert.equal(load.answerMs('a', 600), 0, 'grew old here');
      load.observe(snapshot(600, { a: 100 }, { ...more, ageMs: 2100 }));
      assert.equal(load.answerMs('a', 600), 0, 'was old when it was read');
      load.observe(snapshot(800, { a: 100 }, more));
      assert.ok(load.answerMs('a', 800) > 7000);
    }
  });
});

describe('a system that refuses by the estimate of the load', () => {
  /** Service times about a mean, the same in every run. */
  function around(mean: number): () => number {
    let seed = 7;
    return () => {
      seed = (seed * 16807) % 2147483647;
      return mean * (0.5 + seed / 2147483647);
    };
  }
  const shapes: [name: string, slotsPerWorker: number, serviceMs: () => number][] = [
    ['16 slots of 0.1 s', 8, around(100)],
    ['128 slots of 0.8 s', 64, around(800)],
    ['16 slots of just 0.1 s', 8, () => 100],
    ['128 slots of just 0.8 s', 64, () => 800],
  ];

  function system([, slotsPerWorker, serviceMs]: (typeof shapes)[number]): QueueModel {
    const model = new QueueModel();
    model.slotsPerWorker = slotsPerWorker;
    model.serviceMs = serviceMs;
    return model;
  }

  for (const shape of shapes) {
    const [name] = shape;

    it(`refuses nobody at 80 % of its capacity (${name})`, () => {
      const model = system(shape);
      model.arrivals = { a: 64, b: 64 };
      model.run(20_000);
      assert.equal(model.tally(0, 20_000).refused, 0);
    });

    it(`at 3 times its capacity answers about its capacity, and all that it admits (${name})`, () => {
      const model = system(shape);
      model.arrivals = { a: 480 };
      model.run(40_000);
      const { answered, late, refused } = model.tally(5000, 30_000);
      assert.ok(answered >= 0.9 * 160 * 25, `answered ${answered}`);
      assert.ok(late <= 0.02 * answered, `late ${late} of ${answered}`);
      assert.ok(refused > 0);
    });

    it(`refuses within 2 s of a collapse, also at full load, and ends within 1.5 s of the recovery (${name})`, () => {
      for (const rate of [100, 155, 300]) {
        const model = system(shape);
        model.arrivals = { a: rate };
        model.run(3000);
        model.hang();
        model.run(15_000);
        const first = model.refusedFrom(3000) ?? Number.POSITIVE_INFINITY;
        assert.ok(first <= 5000, `at ${rate}/s from ${first}`);
        const { refused, late } = model.tally(5000, 15_000);
        assert.ok(refused > 20 * late, `at ${rate}/s: ${late} late and ${refused} refused`);
        model.serviceMs = shape[2];
        model.arrivals = { a: 80 };
        // Hanging slots are freed at their deadline.
        model.run(20_000);
        const last = model.refusedUntil(18_000) ?? 0;
        assert.ok(last <= 18_000 + 10_000 + 1500, `at ${rate}/s until ${last}`);
        assert.ok(model.tally(30_000, 37_000).answered >= 0.95 * 7 * 80);
      }
    });
  }

  it('ends its refusals within 1.5 s when hanging calls are answered', () => {
    for (const shape of shapes) {
      const model = system(shape);
      model.arrivals = { a: 120 };
      model.run(3000);
      // Everything is answered at 9 s.
      model.serviceMs = () => 9000 - model.now;
      model.run(6000);
      assert.ok(model.refusedFrom(3000));
      model.serviceMs = shape[2];
      model.run(10_000);
      const last = model.refusedUntil(9000) ?? 0;
      assert.ok(last <= 10_500, `${shape[0]}: until ${last}`);
    }
  });

  it('refuses at once without a worker, and stops soon after one starts', () => {
    const model = new QueueModel();
    model.arrivals = { a: 100 };
    model.run(3000);
    model.kill();
    model.run(5000);
    const { refused, answered } = model.tally(3400, 8000);
    assert.equal(answered, 0);
    assert.equal(refused, 460);
    assert.equal(model.freshIngress().answerMs('anybody', model.now), Number.POSITIVE_INFINITY);
    model.workers = 2;
    model.run(5000);
    assert.ok((model.refusedUntil(8000) ?? 0) <= 9000);
  });

  it('sees a standing queue even at an ingress that just started', () => {
    const model = new QueueModel();
    model.arrivals = { a: 480 };
    model.run(15_000);
    const fresh = model.freshIngress();
    assert.ok(Math.abs(fresh.answerMs('a', model.now) - 7000) < 1500);
    assert.ok(fresh.answerMs('newcomer', model.now) < 1500);
  });

  it('refuses no party with an empty queue during floods', () => {
    const model = new QueueModel();
    const quiet = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`quiet${n}`, 1]));
    model.arrivals = { flood: 400, other: 200, ...quiet };
    model.run(30_000);
    assert.ok(model.tally(0, 20_000, 'flood').refused > 0);
    for (const party of Object.keys(quiet))
      assert.deepEqual(model.tally(0, 20_000, party), { refused: 0, answered: 20, late: 0 });
  });

  it('does not mistake lost tickets for a lack of capacity', () => {
    const model = new QueueModel();
    model.arrivals = { a: 20 };
    model.run(5000);
    for (let n = 0; n < 5; n += 1) {
      model.hasTickets = false;
      model.run(2000);
      model.hasTickets = true;
      model.run(1000);
    }
    assert.equal(model.tally(0, 20_000).refused, 0);
  });

  it('refuses nothing while no leader publishes, and refuses again when one does', () => {
    const model = new QueueModel();
    model.arrivals = { a: 480 };
    model.run(10_000);
    model.hasLeader = false;
    model.run(4000);
    assert.ok((model.refusedUntil(10_000) ?? 0) <= 12_200, 'refuses nobody by what is old');
    model.hasLeader = true;
    model.run(4000);
    assert.ok((model.refusedFrom(14_000) ?? Number.POSITIVE_INFINITY) <= 14_500);
  });
});

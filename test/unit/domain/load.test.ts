import assert from 'node:assert/strict';
import { type KindLoad, LoadEstimate } from '../../../shared/domain/load.ts';
import { QueueModel } from '../../support/queue-model.ts';

const SERVICE_MS = 500;

/** Makes a load with full slots and the standing queue of one party. */
function loadAt(at: number, more: Partial<KindLoad> = {}): KindLoad {
  return {
    at,
    standing: 1,
    queues: [],
    others: 0,
    queued: 500,
    oldestMs: 900,
    claimed: at / 10,
    lastClaimMs: 10,
    running: 16,
    workers: 1,
    slots: 16,
    ...more,
  };
}

/** Makes an estimate at 1000 ms that has seen workers claim 100 pieces a second from a standing queue. */
function measuredEstimate(more: Partial<KindLoad> = {}): LoadEstimate {
  const load = new LoadEstimate();
  for (const at of [0, 100, 600, 1000]) load.observe(loadAt(at, more));
  return load;
}

const assertCloseTo = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1, `${actual}, not about ${expected}`);

describe('load estimate', () => {
  it('the load estimate predicts no wait without a standing queue', () => {
    const load = new LoadEstimate();
    assert.equal(load.answerMs(1000, 0), 0);
    load.observe(loadAt(0, { oldestMs: 5 }));
    assert.equal(load.answerMs(1000, 0), 0);
    assert.equal(load.maxQueued(0, 0), Number.POSITIVE_INFINITY);
  });

  it('the load estimate divides the work ahead by the measured claim rate', () => {
    assertCloseTo(measuredEstimate().answerMs(500, 1000), 5010 + SERVICE_MS);
  });

  it('the load estimate puts a party with little queued work ahead of a party with much', () => {
    const load = measuredEstimate({ queues: [1] });
    assertCloseTo(load.answerMs(0, 1000), 30 + SERVICE_MS);
    assertCloseTo(load.answerMs(1, 1000), 30 + SERVICE_MS);
    assertCloseTo(load.answerMs(1000, 1000), 10_020 + SERVICE_MS);
  });

  it('the load estimate expects each party with queued work to get one slot before each piece of the asking party', () => {
    const load = measuredEstimate({ standing: 61 });
    assertCloseTo(load.answerMs(0, 1000), 620 + SERVICE_MS);
    assertCloseTo(load.answerMs(9, 1000), 6100 + SERVICE_MS);
  });

  it('the load estimate gives the other class of parties every second slot while that class has work', () => {
    assertCloseTo(measuredEstimate({ others: 1000 }).answerMs(99, 1000), 2000 + SERVICE_MS);
    assertCloseTo(measuredEstimate({ others: 20 }).answerMs(99, 1000), 1200 + SERVICE_MS);
  });

  it('until a claim rate is measured, the load estimate takes the age of the oldest work as the waiting time', () => {
    const load = new LoadEstimate();
    load.observe(loadAt(0, { queued: 800, oldestMs: 8000, claimed: 1e6 }));
    assertCloseTo(load.answerMs(800, 0), 8010 + SERVICE_MS);
    assertCloseTo(load.answerMs(0, 0), 20 + SERVICE_MS);
  });

  it('the load estimate allows a party exactly as much queued work as can be answered in time', () => {
    for (const more of [{}, { standing: 7, queues: [1, 5, 90], others: 40 }]) {
      const load = measuredEstimate(more);
      const most = load.maxQueued(7000, 1000);
      assert.ok(load.answerMs(most - 1, 1000) <= 7000);
      assert.ok(load.answerMs(most, 1000) > 7000);
    }
    assert.equal(measuredEstimate({ standing: 1000 }).maxQueued(7000, 1000), 0);
  });

  it('the load estimate predicts no wait for a new party while a slot is free, even during a flood by others', () => {
    const load = measuredEstimate({ running: 14, standing: 1000 });
    assert.ok(load.answerMs(1, 1000) > 10_000);
    assert.equal(load.answerMs(0, 1000), 0);
    assert.equal(load.maxQueued(7000, 1000), 1);
  });

  it('the load estimate learns the service time from served work', () => {
    const load = measuredEstimate();
    for (let n = 0; n < 100; n += 1) load.noteServed(2000);
    assertCloseTo(load.answerMs(99, 1000), 3000);
  });

  it('while no work is claimed, the load estimate assumes at most three claims in as much time as the pause so far', () => {
    const load = measuredEstimate();
    load.observe(loadAt(1200, { claimed: 100, lastClaimMs: 1000 }));
    assertCloseTo(load.answerMs(29, 1200), 10_000 + SERVICE_MS);
  });

  it('the load estimate keeps its claim rate during a pause in claims that is shorter than the service time', () => {
    const load = measuredEstimate();
    for (let n = 0; n < 100; n += 1) load.noteServed(2000);
    load.observe(loadAt(1200, { claimed: 100, lastClaimMs: 1900 }));
    assertCloseTo(load.answerMs(29, 1200), 300 + 2000);
  });

  it('the load estimate predicts no wait while most slots are free', () => {
    assert.equal(measuredEstimate({ running: 3, claimed: 7, lastClaimMs: 5000 }).answerMs(500, 1000), 0);
    assert.equal(measuredEstimate({ running: 0, lastClaimMs: null }).answerMs(500, 1000), 0);
  });

  it('the load estimate uses its measured claim rate even while some slots are free', () => {
    assertCloseTo(measuredEstimate({ running: 12 }).answerMs(500, 1000), 5010 + SERVICE_MS);
  });

  it('the load estimate restarts its measurement when a worker starts or ends', () => {
    for (const more of [{ claimed: 5 }, { claimed: 1e6, workers: 2 }]) {
      const load = measuredEstimate();
      load.observe(loadAt(2000, { queued: 100, oldestMs: 1000, ...more }));
      assertCloseTo(load.answerMs(100, 2000), 1010 + SERVICE_MS);
    }
  });

  it('the load estimate predicts no answer while there is no worker', () => {
    const idle = { standing: 0, queued: 0, oldestMs: 0, running: 0, lastClaimMs: null };
    const load = new LoadEstimate();
    load.observe(loadAt(0, { ...idle, workers: 0, slots: 0 }));
    assert.equal(load.answerMs(0, 0), Number.POSITIVE_INFINITY);
    assert.equal(load.maxQueued(7000, 0), -1);
    assert.equal(load.isStrained, true);
    load.observe(loadAt(200, idle));
    assert.equal(load.answerMs(0, 200), 0);
    assert.equal(load.isStrained, false);
  });

  it('the load estimate ignores a load read more than two seconds ago, and uses the next one', () => {
    for (const more of [
      { workers: 0, slots: 0 },
      { queued: 100, oldestMs: 20_000 },
    ]) {
      const load = new LoadEstimate();
      load.observe(loadAt(0, more));
      assert.ok(load.answerMs(100, 2000) > 7000);
      assert.equal(load.answerMs(100, 2100), 0);
      assert.equal(load.maxQueued(7000, 2100), Number.POSITIVE_INFINITY);
      load.observe(loadAt(2200, more));
      assert.ok(load.answerMs(100, 2200) > 7000);
    }
  });
});

describe('load shedding', () => {
  /** Makes service times spread around a mean, the same in every run. */
  function serviceTimesAround(mean: number): () => number {
    let seed = 7;
    return () => {
      seed = (seed * 16807) % 2147483647;
      return mean * (0.5 + seed / 2147483647);
    };
  }
  const shapes: [name: string, slotsPerWorker: number, serviceMs: () => number][] = [
    ['16 slots of about 0.1 s', 8, serviceTimesAround(100)],
    ['128 slots of about 0.8 s', 64, serviceTimesAround(800)],
    ['16 slots of exactly 0.1 s', 8, () => 100],
    ['128 slots of exactly 0.8 s', 64, () => 800],
  ];

  function modelOf([, slotsPerWorker, serviceMs]: (typeof shapes)[number]): QueueModel {
    const model = new QueueModel();
    model.slotsPerWorker = slotsPerWorker;
    model.serviceMs = serviceMs;
    return model;
  }

  for (const shape of shapes) {
    const [name] = shape;

    it(`load shedding refuses no call at 80 % of the capacity (${name})`, () => {
      const model = modelOf(shape);
      model.arrivals = { a: 64, b: 64 };
      model.run(20_000);
      assert.equal(model.tally(0, 20_000).refused, 0);
    });

    it(`load shedding at triple load uses at least 90 % of the capacity, and answers 98 % of admitted calls in time (${name})`, () => {
      const model = modelOf(shape);
      model.arrivals = { a: 480 };
      model.run(40_000);
      const { answered, late, refused } = model.tally(5000, 30_000);
      assert.ok(answered >= 0.9 * 160 * 25, `answered ${answered}`);
      assert.ok(late <= 0.02 * answered, `late ${late} of ${answered}`);
      assert.ok(refused > 0);
    });

    it(`load shedding begins within 2 s after workers hang, and ends within 1.5 s of recovery (${name})`, () => {
      for (const rate of [100, 155, 300]) {
        const model = modelOf(shape);
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
        // The hanging slots are freed at their deadline.
        model.run(20_000);
        const last = model.refusedUntil(18_000) ?? 0;
        assert.ok(last <= 18_000 + 10_000 + 1500, `at ${rate}/s until ${last}`);
        assert.ok(model.tally(30_000, 37_000).answered >= 0.95 * 7 * 80);
      }
    });
  }

  it('load shedding ends within 1.5 s after hanging calls have been answered', () => {
    for (const shape of shapes) {
      const model = modelOf(shape);
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

  it('load shedding refuses every call from 0.4 s after the last worker ends, and ends within a second after workers start', () => {
    const model = new QueueModel();
    model.arrivals = { a: 100 };
    model.run(3000);
    model.kill();
    model.run(5000);
    const { refused, answered } = model.tally(3400, 8000);
    assert.equal(answered, 0);
    assert.equal(refused, 460);
    assert.equal(model.freshIngress().answerMs(0, model.now), Number.POSITIVE_INFINITY);
    model.workers = 2;
    model.run(5000);
    assert.ok((model.refusedUntil(8000) ?? 0) <= 9000);
  });

  it('load shedding at a new ingress takes account of the queue that stood before the ingress started', () => {
    const model = new QueueModel();
    model.arrivals = { a: 480 };
    model.run(15_000);
    const fresh = model.freshIngress();
    assert.ok(Math.abs(fresh.answerMs(model.queuedOf('a'), model.now) - 7000) < 1500);
    assert.ok(fresh.answerMs(0, model.now) < 1500);
  });

  it('load shedding refuses no party with an empty queue during floods', () => {
    const model = new QueueModel();
    const quiet = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`quiet${n}`, 1]));
    model.arrivals = { flood: 400, other: 200, ...quiet };
    model.run(30_000);
    assert.ok(model.tally(0, 20_000, 'flood').refused > 0);
    for (const party of Object.keys(quiet))
      assert.deepEqual(model.tally(0, 20_000, party), { refused: 0, answered: 20, late: 0 });
  });

  it('load shedding among 61 flooding parties gives equal shares within 20 %, and answers 98 % of admitted calls in time', () => {
    const model = new QueueModel();
    const small = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`small${n}`, 10]));
    model.arrivals = { big: 100, ...small };
    model.run(40_000);
    const { answered, late, refused } = model.tally(5000, 30_000);
    assert.ok(answered >= 0.9 * 160 * 25, `answered ${answered}`);
    assert.ok(late <= 0.02 * answered, `late ${late} of ${answered}`);
    assert.ok(refused > 0);
    const share = (160 * 25) / 61;
    for (const party of ['big', 'small0', 'small59']) {
      const own = model.tally(5000, 30_000, party).answered;
      assert.ok(Math.abs(own - share) <= 0.2 * share, `${party}: ${own}, not about ${share}`);
    }
  });

  it('load shedding refuses no call if workers learn of queued work up to two seconds late', () => {
    const model = new QueueModel();
    model.arrivals = { a: 20 };
    model.run(5000);
    for (let n = 0; n < 5; n += 1) {
      model.isHeard = false;
      model.run(2000);
      model.isHeard = true;
      model.run(1000);
    }
    assert.equal(model.tally(0, 20_000).refused, 0);
  });

  it('load shedding stops while the load cannot be read, and resumes when the load can be read again', () => {
    const model = new QueueModel();
    model.arrivals = { a: 480 };
    model.run(10_000);
    model.isReadable = false;
    model.run(4000);
    assert.ok((model.refusedUntil(10_000) ?? 0) <= 12_200, 'refuses no call by an old load');
    model.isReadable = true;
    model.run(4000);
    assert.ok((model.refusedFrom(14_000) ?? Number.POSITIVE_INFINITY) <= 14_500);
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createBatcher } from '../../../shared/db/batcher.ts';
import { until } from '../../support/until.ts';

/** Fakes a statement whose runs the test ends one by one. */
function statement<In extends number | string>() {
  const flights: { items: In[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: In[]) =>
    new Promise<string[]>((resolve, reject) => {
      flights.push({ items, finish: () => resolve(items.map((item) => `#${item}`)), fail: reject });
    });
  return { flights, run, batches: () => flights.map(({ items }) => items) };
}

const settlePromises = () => new Promise((resolve) => setImmediate(resolve));
const errorWithCode = (code: string) => Object.assign(new Error(code), { code });
const outcomesOf = async (asked: Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map((one) =>
    one.status === 'fulfilled' ? one.value : (one.reason.code ?? one.reason.message),
  );
const partyOf = (item: string) => item.slice(0, 1);

describe('batcher', () => {
  it('a batcher starts the statement of a lone caller at once', () => {
    const { batches, run } = statement<number>();
    createBatcher(run, { maxItems: 10 })(1);
    assert.deepEqual(batches(), [[1]]);
  });

  it('a batcher of a busy process lets items that arrive in one turn of the event loop share a statement', async () => {
    const { batches, run } = statement<number>();
    const ask = createBatcher(run, { maxItems: 10, isBusy: () => true });
    ask(1);
    await Promise.resolve();
    ask(2);
    await settlePromises();
    assert.deepEqual(batches(), [[1, 2]]);
  });

  it('a batcher of a busy process collects items until one of them has waited for its `patienceMs`', async () => {
    const { batches, flights, run } = statement<number>();
    const ask = createBatcher(run, { maxItems: 10, isBusy: () => true, patienceMs: (item) => item });
    ask(40);
    ask(20);
    await settlePromises();
    assert.deepEqual(batches(), []);
    await until(() => flights.length === 1);
    assert.deepEqual(batches(), [[40, 20]]);
    flights[0]?.finish();
    await settlePromises();
    ask(20);
    ask(0);
    await settlePromises();
    assert.deepEqual(batches()[1], [20, 0]);
  });

  it('a batcher lets items that arrive during a statement share the next one, and returns each its own output', async () => {
    const { flights, batches, run } = statement<number>();
    const ask = createBatcher(run, { maxItems: 10 });
    const answers = Promise.all([ask(1), ask(2), ask(3)]);
    flights[0]?.finish();
    await settlePromises();
    assert.deepEqual(batches(), [[1], [2, 3]]);
    flights[1]?.finish();
    assert.deepEqual(await answers, ['#1', '#2', '#3']);
  });

  it('a batcher limits the items and the bytes of a batch, except that a single item may have more bytes', async () => {
    const sizes: number[][] = [];
    const ask = createBatcher(
      async (items: number[]) => {
        sizes.push(items);
        return items;
      },
      { maxItems: 3, bytesOf: (bytes) => bytes, maxBytes: 100 },
    );
    await Promise.all([1, 60, 40, 1, 500, 1, 2, 3, 4].map((bytes) => ask(bytes)));
    assert.deepEqual(sizes, [[1], [60, 40], [1], [500], [1, 2, 3], [4]]);
  });

  it('a batcher puts two items with a common key into different batches, in their order', async () => {
    const { flights, batches, run } = statement<string>();
    const ask = createBatcher(run, { maxItems: 10, keysOf: (item) => [...item] });
    const asked = Promise.all(['x', 'a', 'ab', 'b', 'c', 'a'].map((item) => ask(item)));
    for (let n = 0; n < 4; n += 1) {
      flights[n]?.finish();
      await settlePromises();
    }
    await asked;
    assert.deepEqual(batches(), [['x'], ['a', 'c'], ['ab'], ['b', 'a']]);
  });

  describe('with parties', () => {
    it("a batcher runs the items of other parties while one party's statement is in flight", async () => {
      const { flights, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 10, partyOf });
      ask('a1');
      ask('a2');
      const other = ask('b1');
      assert.deepEqual(flights[1]?.items, ['b1']);
      flights[1]?.finish();
      assert.equal(await other, '#b1');
      assert.equal(flights.length, 2);
    });

    it('a batcher limits the statements in flight, and lets parties take turns', async () => {
      const { flights, batches, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 1, partyOf, maxInFlight: 2 });
      for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) ask(item);
      assert.deepEqual(batches(), [['a1'], ['b1']]);
      for (let n = 0; n < 4; n += 1) {
        flights[n]?.finish();
        await settlePromises();
      }
      assert.deepEqual(batches(), [['a1'], ['b1'], ['c1'], ['a2'], ['b2'], ['a3']]);
    });

    it('a batcher starts extra statements while some are slow, up to twice its limit of statements in flight', async () => {
      const { flights, batches, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 1, partyOf, maxInFlight: 2 });
      for (const item of ['a1', 'b1', 'c1']) ask(item);
      assert.equal(flights.length, 2);
      await until(() => flights.length === 3);
      assert.deepEqual(batches(), [['a1'], ['b1'], ['c1']]);
      ask('d1');
      assert.equal(flights.length, 4);
      ask('e1');
      await sleep(300);
      assert.equal(flights.length, 4, 'at most twice as many statements');
    });

    it('a batcher runs an item of another party at once, even while the statements of 16 parties time out on locks', async () => {
      let locked = 0;
      let most = 0;
      let started = false;
      const run = async (items: string[]) => {
        if (items.includes('z1')) {
          started = true;
          return items;
        }
        locked += 1;
        most = Math.max(most, locked);
        await sleep(60);
        locked -= 1;
        throw errorWithCode('55P03');
      };
      const ask = createBatcher(run, { maxItems: 10, partyOf, maxInFlight: 2 });
      const names = [...'abcdefghijklmnop'];
      await outcomesOf(names.map((name) => ask(`${name}1`)));
      const again = outcomesOf(names.map((name) => ask(`${name}2`)));
      most = locked;
      const other = ask('z1');
      assert.ok(started, 'does not wait for the locked parties');
      assert.equal(await other, 'z1');
      assert.deepEqual(await again, Array(16).fill('55P03'));
      assert.equal(most, 2);
    });
  });

  describe('with lanes', () => {
    const laneOf = (item: string) => item.slice(1, 2);

    it('a batcher lets items of one party in different lanes share a statement', async () => {
      const { flights, batches, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 10, partyOf, laneOf });
      for (const item of ['ax1', 'ay1', 'az1', 'ax2']) ask(item);
      flights[0]?.finish();
      await settlePromises();
      assert.deepEqual(batches(), [['ax1'], ['ay1', 'az1', 'ax2']]);
    });

    it('a batcher runs items of other parties at once while a party with 60 lanes waits for a lock', async () => {
      const { flights, batches, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 10, partyOf, laneOf: (item) => item });
      const own = Array.from({ length: 60 }, (_, n) => ask(`a${n}`));
      const outcomes = outcomesOf(own);
      for (let wave = 0; wave < 5; wave += 1) {
        const locked = flights.splice(0);
        assert.ok(locked.length <= 4, `${locked.length} in flight`);
        ask(`b${wave}`);
        assert.deepEqual(batches(), [[`b${wave}`]], 'starts at once');
        flights.pop()?.finish();
        for (const { fail } of locked) fail(errorWithCode('55P03'));
        await settlePromises();
      }
      while (flights.length > 0) {
        for (const { finish } of flights.splice(0)) finish();
        await settlePromises();
      }
      const ended = await outcomes;
      assert.ok(ended.every((outcome, n) => outcome === '55P03' || outcome === `#a${n}`));
      assert.equal(ended.at(-1), '#a59', 'the last item runs after the release');
    });

    it('after a lock timeout in a lane, a batcher runs the items of the lane one by one until one succeeds', async () => {
      const { flights, run } = statement<string>();
      const ask = createBatcher(run, { maxItems: 10, partyOf, laneOf });
      const flight = (items: string) => {
        const found = flights.find((one) => one.items.join(' ') === items);
        assert.ok(found, `no ${items} in ${flights.map((one) => one.items.join(' '))}`);
        return found;
      };
      const asked = outcomesOf(['aw1', 'ax1', 'ay1', 'az1'].map((item) => ask(item)));
      flight('aw1').finish();
      await settlePromises();
      flight('ax1 ay1 az1').fail(errorWithCode('55P03'));
      await settlePromises();
      for (const item of ['ay1', 'az1']) flight(item).finish();
      await settlePromises();
      const first = ask('aw2');
      const rest = outcomesOf(['ax2', 'ay2', 'aw3', 'ax3'].map((item) => ask(item)));
      flight('aw2').finish();
      assert.equal(await first, '#aw2');
      await settlePromises();
      flight('ay2 aw3').finish();
      await settlePromises();
      assert.ok(!flights.some(({ items }) => items.includes('ax2')), 'one item of a locked lane at a time');
      flight('ax1').fail(errorWithCode('55P03'));
      await settlePromises();
      flight('ax2').finish();
      await settlePromises();
      flight('ax3').finish();
      assert.deepEqual(await asked, ['#aw1', '55P03', '#ay1', '#az1']);
      assert.deepEqual(await rest, ['#ax2', '#ay2', '#aw3', '#ax3']);
      ask('aw4');
      ask('ax4');
      ask('aw5');
      flight('aw4').finish();
      await settlePromises();
      flight('ax4 aw5');
    });

    it('after four lock timeouts of single items of a lane, a batcher fails the rest of the lane, but no other lane', async () => {
      const runs: string[] = [];
      const ask = createBatcher(
        async (items: string[]) => {
          runs.push(...items);
          await sleep(20);
          if (items.some((item) => laneOf(item) === 'x')) throw errorWithCode('55P03');
          return items;
        },
        { maxItems: 100, partyOf, laneOf },
      );
      const items = Array.from({ length: 60 }, (_, n) => `a${'xyz'[n % 3]}${n}`);
      const outcomes = await outcomesOf(['aw', ...items].map((item) => ask(item)));
      assert.deepEqual(
        outcomes.slice(1),
        items.map((item) => (laneOf(item) === 'x' ? '55P03' : item)),
      );
      assert.equal(runs.slice(items.length + 1).filter((item) => laneOf(item) === 'x').length, 4);
    });
  });

  describe('failed statements', () => {
    it('a batcher retries the items of a failed statement one by one, so that only the faulty item fails', async () => {
      const run = async (items: number[]) => {
        if (items.includes(3)) throw new Error('three');
        return items;
      };
      const ask = createBatcher(run, { maxItems: 10 });
      assert.deepEqual(await outcomesOf([1, 2, 3, 4].map((item) => ask(item))), [1, 2, 'three', 4]);
    });

    for (const timeout of ['55P03', '57014'])
      it(`a batcher retries each item of a timed-out statement (${timeout}) alone, several items at the same time`, async () => {
        const LOCK_MS = 400;
        const run = async (items: string[]) => {
          if (!items.includes('a7')) return items;
          await sleep(LOCK_MS);
          throw errorWithCode(timeout);
        };
        const ask = createBatcher(run, { maxItems: 100, partyOf });
        await ask('a');
        const start = performance.now();
        const items = Array.from({ length: 50 }, (_, n) => `a${n}`);
        const late: number[] = [];
        const answers = await outcomesOf(
          items.map(async (item) => {
            const answer = await ask(item);
            late.push(performance.now() - start);
            return answer;
          }),
        );
        assert.deepEqual(
          answers,
          items.map((item) => (item === 'a7' ? timeout : item)),
        );
        assert.ok(Math.max(...late) < 2 * LOCK_MS, 'the other items wait for one timeout only');
      });

    it("after four lock timeouts of single items of a party, a batcher fails the party's other waiting items", async () => {
      const runs: number[] = [];
      const run = async (items: number[]): Promise<number[]> => {
        runs.push(items.length);
        await sleep(20);
        throw errorWithCode('55P03');
      };
      const ask = createBatcher(run, { maxItems: 100, partyOf: () => 'a' });
      const answers = await outcomesOf(Array.from({ length: 100 }, (_, n) => ask(n)));
      assert.deepEqual(answers, Array(100).fill('55P03'));
      assert.deepEqual(runs, [1, 99, 1, 1, 1, 1]);
    });

    it('a batcher rejects all items of a batch without retries when the database is unreachable', async () => {
      let runs = 0;
      const ask = createBatcher(
        async (): Promise<string[]> => {
          runs += 1;
          throw errorWithCode('ECONNREFUSED');
        },
        { maxItems: 10 },
      );
      assert.deepEqual(await outcomesOf([ask(1), ask(2), ask(3)]), Array(3).fill('ECONNREFUSED'));
      assert.equal(runs, 2);
    });

    it('a batcher runs the next item after a failed statement', async () => {
      let fail = true;
      const ask = createBatcher(
        async (items: number[]) => {
          if (fail) throw new Error('once');
          return items;
        },
        { maxItems: 10 },
      );
      await assert.rejects(ask(1));
      fail = false;
      assert.equal(await ask(2), 2);
    });
  });

  describe('leaving callers', () => {
    it('a batcher never runs a waiting item whose caller leaves', async () => {
      const { flights, batches, run } = statement<number>();
      const ask = createBatcher(run, { maxItems: 10 });
      const left = new AbortController();
      const before = AbortSignal.abort(new Error('before'));
      const asked = outcomesOf([ask(1), ask(2, left.signal), ask(3), ask(4, before)]);
      left.abort(new Error('waiting'));
      flights[0]?.finish();
      await settlePromises();
      flights[1]?.finish();
      assert.deepEqual(await asked, ['#1', 'waiting', '#3', 'before']);
      assert.deepEqual(batches(), [[1], [3]]);
    });

    it('a batcher finishes an item in flight whose caller leaves', async () => {
      const { flights, batches, run } = statement<number>();
      const ask = createBatcher(run, { maxItems: 10 });
      const left = new AbortController();
      const asked = outcomesOf([ask(1, left.signal), ask(2, left.signal), ask(3)]);
      left.abort(new Error('left'));
      flights[0]?.finish();
      await settlePromises();
      flights[1]?.fail(new Error('poison'));
      await settlePromises();
      assert.deepEqual(await asked, ['#1', 'left', 'poison']);
      assert.deepEqual(batches(), [[1], [3]]);
    });

    it('a batcher does not retry an item whose caller left during its failed statement', async () => {
      const { flights, batches, run } = statement<number>();
      const ask = createBatcher(run, { maxItems: 10 });
      const left = new AbortController();
      const asked = outcomesOf([ask(1), ask(2, left.signal), ask(3)]);
      flights[0]?.finish();
      await settlePromises();
      left.abort(new Error('left'));
      flights[1]?.fail(new Error('poison'));
      await settlePromises();
      flights[2]?.finish();
      assert.deepEqual(await asked, ['#1', 'left', '#3']);
      assert.deepEqual(batches(), [[1], [2, 3], [3]]);
    });
  });

  describe('under any load', () => {
    interface Item {
      n: number;
      party: string;
      lane: string | null;
      keys: string[];
      bytes: number;
      fate: 'well' | 'poison' | 'locked' | 'leaves';
    }
    const anyItem = fc.record({
      party: fc.constantFrom('a', 'b', 'c'),
      lane: fc.constantFrom(null, 'x', 'y'),
      keys: fc.uniqueArray(fc.constantFrom('k', 'l', 'm'), { maxLength: 2 }),
      bytes: fc.integer({ min: 0, max: 60 }),
      fate: fc.constantFrom('well', 'well', 'well', 'poison', 'locked', 'leaves') satisfies fc.Arbitrary<
        Item['fate']
      >,
    });
    const anyOptions = fc.record({
      maxItems: fc.integer({ min: 1, max: 5 }),
      maxInFlight: fc.integer({ min: 1, max: 3 }),
    });

    it("a batcher under any load keeps its limits, and fails an item only for its own fault or its party's lock timeouts", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyItem, { maxLength: 40, size: 'max' }),
          anyOptions,
          fc.scheduler(),
          async (drawn, options, scheduler) => {
            const items: Item[] = drawn.map((item, n) => ({ ...item, n }));
            const flights: Item[][] = [];
            const flown: Item[][] = [];
            const run = async (batch: Item[]) => {
              assertBatch(batch, flights, options);
              flights.push(batch);
              flown.push(batch);
              await scheduler.schedule(Promise.resolve());
              flights.splice(flights.indexOf(batch), 1);
              if (batch.some(({ fate }) => fate === 'locked')) throw errorWithCode('55P03');
              if (batch.some(({ fate }) => fate === 'poison')) throw errorWithCode('23505');
              return batch.map(({ n }) => n);
            };
            const ask = createBatcher(run, {
              ...options,
              partyOf: ({ party }) => party,
              laneOf: ({ lane }) => lane,
              bytesOf: ({ bytes }) => bytes,
              maxBytes: 100,
              keysOf: ({ keys }) => keys,
            });
            const asked = items.map((item) => {
              const gone = new AbortController();
              const answer = ask(item, gone.signal);
              const started = flown.some((batch) => batch.includes(item));
              if (item.fate === 'leaves') gone.abort(errorWithCode('left'));
              return { item, answer, started };
            });
            const outcomes = outcomesOf(asked.map(({ answer }) => answer));
            await scheduler.waitFor(outcomes);
            assertOutcomes(asked, await outcomes, flown);
            assert.equal(flights.length, 0);
          },
        ),
        { numRuns: 300 },
      );
    });

    function assertBatch(
      batch: Item[],
      inFlight: Item[][],
      { maxItems, maxInFlight }: { maxItems: number; maxInFlight: number },
    ) {
      assert.ok(batch.length >= 1 && batch.length <= maxItems);
      assert.equal(new Set(batch.map(({ party }) => party)).size, 1, 'one party');
      const keys = batch.flatMap((item) => item.keys);
      assert.equal(new Set(keys).size, keys.length, 'no key twice');
      assert.ok(batch.length === 1 || batch.reduce((sum, { bytes }) => sum + bytes, 0) <= 100);
      assert.ok(inFlight.length < 2 * maxInFlight);
      const own = inFlight.filter(([first]) => first?.party === batch[0]?.party);
      const shared = [batch, ...own].filter((flight) => flight.length > 1);
      assert.ok(shared.length <= 1, 'at most one shared statement of a party');
      assert.ok(own.length <= 4, 'at most four statements of a party');
      assert.ok(!own.flat().some((item) => item.keys.some((key) => keys.includes(key))));
    }

    function assertOutcomes(
      asked: { item: Item; started: boolean }[],
      outcomes: unknown[],
      flown: Item[][],
    ): void {
      const items = asked.map(({ item }) => item);
      const ranAt = (item: Item) => flown.findIndex((batch) => batch.includes(item));
      for (const [place, { item, started }] of asked.entries()) {
        const outcome = outcomes[place];
        if (item.fate === 'leaves' && !started) {
          assert.equal(outcome, 'left');
          assert.equal(ranAt(item), -1, 'never ran');
          continue;
        }
        if (ranAt(item) === -1) {
          const isOfSameLane = ({ party, lane }: Item) => party === item.party && lane === item.lane;
          const locked = items.filter((one) => isOfSameLane(one) && one.fate === 'locked');
          assert.ok(item.lane !== null && locked.length >= 3, 'only an item of a locked lane never runs');
          assert.equal(outcome, '55P03');
          continue;
        }
        // If several items of a party are locked, its other items may fail with them.
        if (item.fate === 'poison') assert.ok(outcome === '23505' || outcome === '55P03');
        else if (item.fate === 'locked') assert.equal(outcome, '55P03');
        else assert.ok(outcome === item.n || outcome === '55P03');
        const earlier = asked.filter(
          (one) =>
            one.item.n < item.n &&
            one.item.party === item.party &&
            one.item.keys.some((key) => item.keys.includes(key)) &&
            ranAt(one.item) >= 0,
        );
        for (const one of earlier)
          assert.ok(ranAt(one.item) < ranAt(item), 'items with a common key run in their order');
      }
    }

    it('a batcher under any load runs every item, in order within each party', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 }),
          anyOptions,
          fc.scheduler(),
          async (parties, options, scheduler) => {
            const flown: { party: string; n: number }[] = [];
            const run = async (batch: { party: string; n: number }[]) => {
              flown.push(...batch);
              await scheduler.schedule(Promise.resolve());
              return batch;
            };
            const ask = createBatcher(run, { ...options, partyOf: ({ party }) => party });
            await scheduler.waitFor(Promise.all(parties.map((party, n) => ask({ party, n }))));
            assert.equal(flown.length, parties.length);
            for (const name of ['a', 'b', 'c']) {
              const order = flown.filter(({ party }) => party === name).map(({ n }) => n);
              assert.deepEqual(
                order,
                order.toSorted((a, b) => a - b),
              );
            }
          },
        ),
      );
    });
  });
});

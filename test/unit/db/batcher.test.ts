import assert from 'node:assert/strict';
import timers from 'node:timers/promises';
import fc from 'fast-check';
import { createBatcher } from '../../../shared/db/batcher.ts';
import { useClock } from '../../support/clock.ts';

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
const partyOf = (item: string) => item.slice(0, 1);

describe('batcher', () => {
  const clock = useClock();
  const outcomesOf = async (asked: Promise<unknown>[]) =>
    (await clock.during(Promise.allSettled(asked))).map((one) =>
      one.status === 'fulfilled' ? one.value : (one.reason.code ?? one.reason.message),
    );

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

    it('a batcher runs an item of another party at once, even while the statements of 16 parties time out on locks #locked-rows', async () => {
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
        await timers.setTimeout(60);
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
      assert.equal(most, 1);
    });
  });

  describe('failed statements', () => {
    it('a batcher retries the items of a failed statement one by one, so that only the faulty item fails #fast-failure', async () => {
      const run = async (items: number[]) => {
        if (items.includes(3)) throw new Error('three');
        return items;
      };
      const ask = createBatcher(run, { maxItems: 10 });
      assert.deepEqual(await outcomesOf([1, 2, 3, 4].map((item) => ask(item))), [1, 2, 'three', 4]);
    });

    it('a batcher retries the items of a statement that timed out on a lock one by one, so that only the locked item fails #fast-failure', async () => {
      const runs: string[][] = [];
      const run = async (items: string[]) => {
        runs.push(items);
        if (items.includes('a1')) throw errorWithCode('55P03');
        return items;
      };
      const ask = createBatcher(run, { maxItems: 10, partyOf });
      const items = ['a0', 'a1', 'a2', 'a3'];
      assert.deepEqual(await outcomesOf(items.map((item) => ask(item))), ['a0', '55P03', 'a2', 'a3']);
      assert.deepEqual(runs, [['a0'], ['a1', 'a2', 'a3'], ['a1'], ['a2'], ['a3']]);
    });

    it('after three lock timeouts of a party in a row, a batcher fails the items of its failed statements, until a statement succeeds', async () => {
      const runs: number[] = [];
      let locked = true;
      const run = async (items: number[]) => {
        runs.push(items.length);
        if (locked) throw errorWithCode('57014');
        return items;
      };
      const ask = createBatcher(run, { maxItems: 100 });
      const askMany = () => outcomesOf(Array.from({ length: 50 }, (_, n) => ask(n)));
      assert.deepEqual(await askMany(), Array(50).fill('57014'));
      assert.deepEqual(await askMany(), Array(50).fill('57014'));
      assert.deepEqual(runs, [1, 49, 1, 1, 49]);
      locked = false;
      assert.deepEqual(await askMany(), [...Array(50).keys()]);
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
      keys: string[];
      bytes: number;
      fate: 'well' | 'poison' | 'locked' | 'leaves';
    }
    const anyItem = fc.record({
      party: fc.constantFrom('a', 'b', 'c'),
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
      assert.ok(inFlight.length < maxInFlight);
      assert.ok(!inFlight.some(([first]) => first?.party === batch[0]?.party), 'one statement of a party');
    }

    function assertOutcomes(
      asked: { item: Item; started: boolean }[],
      outcomes: unknown[],
      flown: Item[][],
    ): void {
      const ranAt = (item: Item) => flown.findIndex((batch) => batch.includes(item));
      for (const [place, { item, started }] of asked.entries()) {
        const outcome = outcomes[place];
        if (item.fate === 'leaves' && !started) {
          assert.equal(outcome, 'left');
          assert.equal(ranAt(item), -1, 'never ran');
          continue;
        }
        assert.notEqual(ranAt(item), -1, 'ran');
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

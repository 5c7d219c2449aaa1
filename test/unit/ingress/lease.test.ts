import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { Lease } from '../../../ingress/limits/lease-limiter.ts';
import type { Verdict } from '../../../ingress/limits/limiter.ts';
import { MemoryCounts } from '../../../ingress/limits/open-limits.ts';
import type { KeyWindow } from '../../../shared/db/stores/rate-limits.ts';

const WINDOW_S = 2;

type Step =
  | { do: 'take'; at: number; points: number }
  | { do: 'arrive' | 'return' | 'tick'; at: number }
  | { do: 'wait'; ms: number };

/** Ingresses that lease one key from one store, with a network and a clock that the test controls. */
class Installation {
  readonly limit: { name: string; points: number; windowS: number };
  readonly #nodes: { lease: Lease; sent: (() => void)[]; answered: (() => void)[]; late: boolean }[] = [];
  #nowMs = 0;
  windows = new Set<number>();
  granted = 0;
  refused = 0;
  open = 0;

  constructor({ points, ingresses, share }: { points: number; ingresses: number; share: number }) {
    this.limit = { name: 'test', points, windowS: WINDOW_S };
    const store = new MemoryCounts(() => this.#nowMs);
    for (let n = 0; n < ingresses; n += 1) {
      const sent: (() => void)[] = [];
      const answered: (() => void)[] = [];
      const lease = new Lease('key', {
        limit: this.limit,
        share,
        now: () => this.#nowMs,
        reportLater: () => {
          node.late = true;
        },
        count: (points) => {
          const { promise, resolve } = Promise.withResolvers<KeyWindow>();
          sent.push(() => {
            const count = store.count(points);
            this.windows.add(count.window);
            answered.push(() => resolve(count));
          });
          return promise;
        },
      });
      const node = { lease, sent, answered, late: false };
      this.#nodes.push(node);
    }
  }

  async run(steps: readonly Step[]): Promise<this> {
    for (const step of steps) {
      this.#do(step);
      await nextTurn();
    }
    return this;
  }

  /** Runs until every call is answered and all points are reported. */
  async finish(): Promise<this> {
    const all = (['arrive', 'return', 'tick'] as const).flatMap((one) =>
      this.#nodes.map((_, at) => ({ do: one, at })),
    );
    do await this.run(all);
    while (this.#nodes.some(({ sent, answered, late }) => sent.length + answered.length > 0 || late));
    assert.equal(this.open, 0);
    return this;
  }

  #do(step: Step): void {
    if (step.do === 'wait') {
      this.#nowMs += step.ms;
      return;
    }
    const node = this.#nodes[step.at % this.#nodes.length];
    if (node === undefined) return;
    if (step.do === 'take') void this.#take(node.lease, step.points);
    if (step.do === 'arrive') node.sent.shift()?.();
    if (step.do === 'return') node.answered.shift()?.();
    if (step.do === 'tick' && node.late) {
      node.late = false;
      void node.lease.report();
    }
  }

  async #take(lease: Lease, points: number): Promise<void> {
    this.open += 1;
    const { allowed, remaining } = await (lease.take(points) as Promise<Verdict> | Verdict);
    this.open -= 1;
    assert.ok(remaining >= 0 && remaining <= this.limit.points);
    if (allowed) this.granted += points;
    else this.refused += 1;
  }
}

const place = fc.nat(3);
const takeOne = fc.record({ do: fc.constant('take' as const), at: place, points: fc.constant(1) });
const takeMany = fc.record({
  do: fc.constant('take' as const),
  at: place,
  points: fc.integer({ min: 1, max: 6 }),
});
const networkStep = fc.record({
  do: fc.constantFrom('arrive' as const, 'return' as const, 'tick' as const),
  at: place,
});
const waitStep = fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 250, 1000, 2500) });
const stepCount = { minLength: 20, maxLength: 120 };
const takesOfOne = fc.array(fc.oneof(takeOne, networkStep), stepCount);
const options = { points: fc.integer({ min: 1, max: 40 }), share: fc.nat(5) };

describe('leased rate limit', () => {
  it("a leased rate limit is exceeded by at most the ingresses' shares, and refuses no call before it is reached", () =>
    assertFor(
      { ...options, ingresses: fc.integer({ min: 2, max: 4 }), steps: takesOfOne },
      async (found, { points, share, ingresses }) => {
        assert.ok(found.granted <= points + ingresses * share);
        assert.ok(found.refused === 0 || found.granted >= points);
      },
    ));

  it('with a single ingress, a leased rate limit grants exactly as many calls as the limit allows', () =>
    assertFor({ ...options, ingresses: fc.constant(1), steps: takesOfOne }, async (found, { points }) => {
      assert.equal(found.granted, Math.min(points, found.granted + found.refused));
    }));

  it("a leased rate limit is exceeded by at most the ingresses' shares, even if calls cost up to six points", () =>
    assertFor(
      {
        ...options,
        ingresses: fc.integer({ min: 1, max: 4 }),
        steps: fc.array(fc.oneof(takeMany, networkStep), stepCount),
      },
      async (found, { points, share, ingresses }) => {
        assert.ok(found.granted <= points + (ingresses === 1 ? 0 : ingresses * share));
      },
    ));

  it('over several windows, a leased rate limit is exceeded in total by at most the shares of each, and refuses no call if all fit into one', () =>
    assertFor(
      {
        ...options,
        ingresses: fc.integer({ min: 1, max: 4 }),
        steps: fc.array(
          fc.oneof({ weight: 4, arbitrary: takeOne }, { weight: 6, arbitrary: networkStep }, waitStep),
          stepCount,
        ),
      },
      async (found, { points, share, ingresses }) => {
        assert.ok(found.granted <= found.windows.size * (points + ingresses * share));
        assert.ok(found.refused === 0 || found.granted + found.refused > points);
      },
    ));

  it("a leased rate limit grants calls within the ingress's share at once, without asking the store", async () => {
    const installation = new Installation({ points: 100, ingresses: 1, share: 4 });
    const take: Step = { do: 'take', at: 0, points: 1 };
    await installation.run([take, { do: 'arrive', at: 0 }, { do: 'return', at: 0 }, take, take, take, take]);
    assert.deepEqual([installation.granted, installation.open], [5, 0]);
    await installation.run([take]);
    assert.deepEqual([installation.granted, installation.open], [5, 1]);
    await installation.finish();
  });

  it('a leased rate limit allows a call that costs no points, even before its first window has begun', async () => {
    const installation = new Installation({ points: 1, ingresses: 1, share: 0 });
    await installation.run([{ do: 'take', at: 0, points: 0 }]);
    await installation.finish();
    assert.equal(installation.refused, 0);
  });

  it('a leased rate limit asks the store once for the points of all waiting calls', async () => {
    const installation = new Installation({ points: 20, ingresses: 1, share: 0 });
    const storm = Array.from({ length: 60 }, (): Step => ({ do: 'take', at: 0, points: 1 }));
    const round: Step[] = [
      { do: 'arrive', at: 0 },
      { do: 'return', at: 0 },
    ];
    await installation.run([...storm, ...round, ...round]);
    assert.deepEqual([installation.granted, installation.refused], [20, 40]);
  });
});

interface InstallationOptions {
  points: number;
  share: number;
  ingresses: number;
}

function assertFor(
  arbitraries: { [K in keyof InstallationOptions]: fc.Arbitrary<number> } & { steps: fc.Arbitrary<Step[]> },
  assertion: (found: Installation, options: InstallationOptions) => Promise<void>,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.record(arbitraries), async ({ steps, ...options }) => {
      const installation = new Installation(options);
      await installation.run(steps);
      await assertion(await installation.finish(), options);
    }),
    { numRuns: 100 },
  );
}

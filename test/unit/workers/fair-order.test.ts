import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Claim, Flow } from '../../../shared/db/stores/work/claim.ts';
import { type Kinds, kindsOfPool } from '../../../shared/work/kind.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { type ClaimRequest, FairOrder } from '../../../workers/work/fair-order.ts';
import { pluck } from '../../support/pluck.ts';

const PREDICT = kindsOfPool(kinds, 'predict');
const MEMORY = kindsOfPool(kinds, 'memory');
const PLENTY = 1000;

const appFlow = (party: string): Flow => ({ kind: 'predict', party });
const accountFlow = (party: string): Flow => ({ kind: 'reply', party });
const draftFlow = (party: string): Flow => ({ kind: 'draft', party });
const oneAtATimeFlow = (party: string): Flow => ({ kind: 'sync', party });
const manyFlows = (count: number, flow: (party: string) => Flow) =>
  Array.from({ length: count }, (_, n) => flow(`${n}`));
const nameOf = ({ kind, party }: Flow) => `${kind}:${party}`;
const partyOf = ({ kind, party }: Flow) => `${kinds[kind as keyof typeof kinds].parties}:${party}`;

type ClaimedPiece = Pick<Claim, keyof Flow | 'queuedAtMs'>;

/** A queue that answers claims as the database does. */
class Queue {
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, number>();
  /** Maximum number of pieces in a claim: low if their requests are large. */
  readonly #most: number;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  waitingOf(flow: Flow): number {
    return this.#waiting.get(nameOf(flow)) ?? 0;
  }

  add(flow: Flow, count: number): void {
    this.#waiting.set(nameOf(flow), this.waitingOf(flow) + count);
  }

  claim(asks: readonly ClaimRequest[]): { claims: ClaimedPiece[]; left: Flow[] } {
    const claims: ClaimedPiece[] = [];
    let slots = Math.min(
      this.#most,
      asks.reduce((sum, { reserved }) => sum + reserved, 0),
    );
    for (const { kind, party, count } of asks) {
      const taken = Math.min(count, slots, this.#takeable({ kind, party }));
      slots -= taken;
      this.add({ kind, party }, -taken);
      this.#run({ kind, party }, taken);
      for (let n = 0; n < taken; n += 1) claims.push({ kind, party, queuedAtMs: 0 });
    }
    return { claims, left: asks.filter((ask) => this.#takeable(ask) > 0) };
  }

  ended(flow: Flow): void {
    this.#run(flow, -1);
  }

  #takeable(flow: Flow): number {
    const isInTurn = kinds[flow.kind as keyof typeof kinds].oneAtATime;
    const running = this.#running.get(nameOf(flow)) ?? 0;
    return isInTurn ? Math.min(this.waitingOf(flow), 1 - running) : this.waitingOf(flow);
  }

  #run(flow: Flow, count: number): void {
    this.#running.set(nameOf(flow), (this.#running.get(nameOf(flow)) ?? 0) + count);
  }
}

/** A worker that claims from a queue in the fair order. */
class Worker {
  readonly order: FairOrder;
  readonly running: Flow[] = [];
  readonly #queue: Queue;

  constructor(slots: number, of: Kinds, queue: Queue) {
    this.order = new FairOrder(slots, of);
    this.#queue = queue;
  }

  hear(...flows: Flow[]): void {
    for (const flow of flows) this.order.noteQueued(flow);
  }

  /** Claims until the worker may take nothing more. Returns the asks of each claim. */
  fill(): ClaimRequest[][] {
    const claims: ClaimRequest[][] = [];
    for (let asks = this.order.ask(); asks.length > 0; asks = this.order.ask()) {
      assert.ok(claims.push(asks) < PLENTY, 'it claims without end');
      this.take(asks, this.#queue.claim(asks));
    }
    return claims;
  }

  take(asks: readonly ClaimRequest[], { claims, left }: ReturnType<Queue['claim']>): void {
    this.running.push(...claims);
    assert.deepEqual(this.order.noteAnswer(asks, claims, left), []);
  }

  end(place = 0): void {
    for (const flow of this.running.splice(place, 1)) {
      this.#queue.ended(flow);
      this.order.release(flow);
    }
  }

  heldOf(flow: Flow): number {
    return this.running.filter((one) => nameOf(one) === nameOf(flow)).length;
  }

  heldByPartyOf(flow: Flow): number {
    return this.running.filter((one) => partyOf(one) === partyOf(flow)).length;
  }
}

/** Makes a worker that knows the flows, with `count` pieces queued for each, and has claimed all that it may. */
function filledWorker(
  slots: number,
  of: Kinds,
  flows: readonly Flow[],
  count = PLENTY,
  queue = new Queue(),
): Worker {
  for (const flow of flows) queue.add(flow, count);
  const worker = new Worker(slots, of, queue);
  worker.hear(...flows);
  worker.fill();
  return worker;
}

describe('fair order #fair-shares', () => {
  for (const [claiming, most] of [
    ['if there are more slots than apps', Number.POSITIVE_INFINITY],
    ['even if a claim takes only one work item', 1],
  ] as const)
    it(`the fair order gives every app with queued work the same number of slots, ${claiming}`, () => {
      const flows = manyFlows(7, appFlow);
      const worker = filledWorker(64, PREDICT, flows, PLENTY, new Queue(most));
      assert.deepEqual([...new Set(flows.map((flow) => worker.heldOf(flow)))], [9]);
    });

  it('the fair order serves one work item of each app in turn, if there are fewer slots than apps', () => {
    const flows = manyFlows(10, appFlow);
    const worker = filledWorker(4, PREDICT, flows, 3);
    const served = worker.running.map(({ party }) => party);
    while (worker.running.length > 0) {
      worker.end();
      worker.fill();
      served.push(...worker.running.slice(3).map(({ party }) => party));
    }
    const turn = flows.map(({ party }) => party);
    assert.deepEqual(served, [...turn, ...turn, ...turn]);
  });

  it('the fair order gives an app with slow work at most half of the slots, beside an app with quick work', () => {
    const [slow, quick] = [appFlow('slow'), appFlow('quick')];
    const worker = filledWorker(16, PREDICT, [slow, quick]);
    for (let n = 0; n < 100; n += 1) {
      worker.end(worker.running.findIndex(({ party }) => party === 'quick'));
      worker.fill();
    }
    assert.deepEqual([worker.heldOf(slow), worker.heldOf(quick)], [8, 7]);
  });

  it('the fair order gives an account with two kinds of work as many slots as others, and divides them evenly', () => {
    const [replies, drafts] = [accountFlow('busy'), draftFlow('busy')];
    const worker = filledWorker(64, PREDICT, [replies, drafts, ...manyFlows(6, accountFlow)]);
    const held = [replies, ...manyFlows(6, accountFlow)].map((flow) => worker.heldByPartyOf(flow));
    assert.deepEqual(held, Array(7).fill(9));
    assert.deepEqual([worker.heldOf(replies), worker.heldOf(drafts)].sort(), [4, 5]);
  });

  it('the fair order serves accounts in turn, and the two kinds of work of an account in turn', () => {
    const flows = [accountFlow('a'), draftFlow('a'), accountFlow('b')];
    const worker = filledWorker(1, PREDICT, flows);
    const served: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      served.push(...worker.running.map(nameOf));
      worker.end();
      worker.fill();
    }
    const turns = ['reply:a', 'reply:b', 'draft:a', 'reply:b'];
    assert.deepEqual(served, [...turns, ...turns]);
  });

  it("the fair order gives an account's slow work at most half of the account's slots, beside its quick work", () => {
    const [slow, quick, other] = [accountFlow('mine'), draftFlow('mine'), accountFlow('other')];
    const worker = filledWorker(16, PREDICT, [slow, quick, other]);
    for (let n = 0; n < 100; n += 1) {
      worker.end(worker.running.findIndex((one) => nameOf(one) === nameOf(quick)));
      worker.fill();
    }
    assert.deepEqual([worker.heldOf(slow), worker.heldByPartyOf(slow)], [4, 7]);
  });

  it('the fair order leaves a slot free beside an account with two kinds of work', () => {
    const worker = filledWorker(16, PREDICT, [accountFlow('lone'), draftFlow('lone')]);
    assert.equal(worker.running.length, 15);
  });

  it('the fair order gives one app 7 of 16 slots beside 60 accounts, and one account 7 beside 60 apps', () => {
    const [one, other] = [appFlow('one'), accountFlow('one')];
    assert.equal(filledWorker(16, PREDICT, [...manyFlows(60, accountFlow), one]).heldOf(one), 7);
    assert.equal(filledWorker(16, PREDICT, [...manyFlows(60, appFlow), other]).heldOf(other), 7);
  });

  for (const [one, other, oneFlow, otherFlow] of [
    ['app', 'accounts', appFlow, accountFlow],
    ['account', 'apps', accountFlow, appFlow],
  ] as const)
    it(`the fair order serves a new ${one} at once, or after the next call of ${other}, beside a slow ${one} and quick ${other} #free-slot`, () => {
      for (const slots of [8, 9, 16, 64])
        for (const quickParties of [1, 5, 60]) {
          const [slow, newcomer] = [oneFlow('slow'), oneFlow('newcomer')];
          const queue = new Queue();
          const quick = manyFlows(quickParties, otherFlow);
          const worker = filledWorker(slots, PREDICT, [slow, ...quick], PLENTY, queue);
          queue.add(newcomer, PLENTY);
          for (let n = 0; n < 20; n += 1) {
            worker.hear(newcomer);
            worker.fill();
            if (worker.heldOf(newcomer) === 0) {
              worker.end(worker.running.findIndex((flow) => flow.kind === otherFlow('').kind));
              worker.fill();
            }
            assert.ok(worker.heldOf(newcomer) > 0, `call ${n}, ${slots} slots, beside ${quickParties}`);
            while (worker.heldOf(newcomer) > 0)
              worker.end(worker.running.findIndex((flow) => nameOf(flow) === nameOf(newcomer)));
          }
        }
    });

  it('the fair order leaves no slot free beside an app and an account that flood a pool of at most 6 slots', () => {
    for (const slots of [2, 3, 4, 5, 6])
      assert.equal(filledWorker(slots, PREDICT, [appFlow('a'), accountFlow('b')]).running.length, slots);
  });

  it('the fair order gives apps all slots while no account has work, and accounts all slots while no app has work', () => {
    for (const flow of [appFlow, accountFlow]) {
      const worker = filledWorker(16, PREDICT, manyFlows(60, flow));
      assert.equal(worker.running.length, 16);
    }
  });

  it('the fair order gives a lone app 15 of every 16 slots, rounded down, or all slots if there are at most three', () => {
    for (const [slots, held] of [
      [256, 240],
      [64, 60],
      [16, 15],
      [4, 3],
      [3, 3],
      [1, 1],
    ] as const)
      assert.equal(filledWorker(slots, PREDICT, [appFlow('lone')]).running.length, held);
  });

  it('the fair order keeps a slot free for a new app beside up to 15 apps that flood the queue', () => {
    for (const parties of [1, 2, 3, 8, 15]) {
      const queue = new Queue();
      const worker = new Worker(16, PREDICT, queue);
      for (const flow of manyFlows(parties, appFlow)) {
        queue.add(flow, PLENTY);
        worker.hear(flow);
        worker.fill();
        for (let n = 0; n < 16; n += 1) {
          worker.end();
          worker.fill();
        }
      }
      const newcomer = appFlow('newcomer');
      queue.add(newcomer, 1);
      worker.hear(newcomer);
      worker.fill();
      assert.equal(worker.heldOf(newcomer), 1, `beside ${parties}`);
    }
  });

  it('the fair order runs one memory sync of an account at a time, and the next one once the first has ended', () => {
    const [mine, yours] = [oneAtATimeFlow('mine'), oneAtATimeFlow('yours')];
    const worker = filledWorker(8, MEMORY, [mine, yours], 2);
    assert.deepEqual(
      worker.running,
      [mine, yours].map((flow) => ({ ...flow, queuedAtMs: 0 })),
    );
    assert.deepEqual(worker.order.ask(), []);
    worker.end();
    worker.fill();
    assert.deepEqual([worker.heldOf(mine), worker.heldOf(yours)], [1, 1]);
  });

  it('the fair order claims nothing for an app without queued work until new work of the app is announced', () => {
    const worker = filledWorker(16, PREDICT, [appFlow('a')], 2);
    assert.equal(worker.running.length, 2);
    assert.equal(worker.order.isReady, false);
    assert.deepEqual(worker.order.ask(), []);
    worker.hear(appFlow('a'));
    assert.equal(worker.order.isReady, true);
    assert.equal(worker.fill().length, 1);
  });

  it('the fair order claims again for an app whose work was announced during a claim that found none', () => {
    const order = new FairOrder(16, PREDICT);
    order.noteQueued(appFlow('a'));
    const asks = order.ask();
    order.noteQueued(appFlow('a'));
    order.noteAnswer(asks, [], []);
    assert.equal(order.isReady, true);
    order.noteAnswer(order.ask(), [], []);
    assert.equal(order.isReady, false);
  });

  it('the fair order reports apps whose work other workers are claiming, and skips them until new work is announced', () => {
    const order = new FairOrder(16, PREDICT);
    for (const flow of manyFlows(2, appFlow)) order.noteQueued(flow);
    const asks = order.ask();
    assert.deepEqual(order.noteAnswer(asks, [], asks), manyFlows(2, appFlow));
    assert.equal(order.free, 16);
    assert.deepEqual(order.ask(), []);
    order.noteQueued(appFlow('1'));
    assert.deepEqual(order.ask().map(nameOf), ['predict:1']);
  });

  it('until a refresh, the fair order skips work that was queued over a second before the latest claimed work', () => {
    const order = new FairOrder(16, PREDICT);
    order.noteQueued(appFlow('a'));
    const asks = order.ask();
    assert.deepEqual(pluck(asks, 'sinceMs'), [null]);
    const claimed = [5000, 7000].map((queuedAtMs) => ({ ...appFlow('a'), queuedAtMs }));
    order.noteAnswer(asks, claimed, [appFlow('a')]);
    const next = order.ask();
    assert.deepEqual(pluck(next, 'sinceMs'), [6000]);
    order.noteAnswer(next, [], [appFlow('a')]);
    order.refresh();
    order.noteQueued(appFlow('a'));
    assert.deepEqual(pluck(order.ask(), 'sinceMs'), [null]);
  });

  it('after a refresh, the fair order searches the whole queue of an app, even if a claim was under way during the refresh', () => {
    const order = new FairOrder(16, PREDICT);
    order.noteQueued(appFlow('a'));
    const asks = order.ask(1);
    order.refresh();
    order.noteAnswer(asks, [{ ...appFlow('a'), queuedAtMs: 7000 }], [appFlow('a')]);
    assert.deepEqual(pluck(order.ask(1), 'sinceMs'), [null]);
  });

  it('the fair order ignores announced work of other pools and of unknown kinds', () => {
    const order = new FairOrder(16, PREDICT);
    for (const kind of ['sync', 'unheard-of', 'toString']) order.noteQueued({ kind, party: 'a' });
    assert.equal(order.isReady, false);
  });

  it('the fair order finds the only app with work, behind 1000 apps without work, in at most 10 claims', () => {
    const queue = new Queue();
    const worker = new Worker(4, PREDICT, queue);
    worker.hear(...manyFlows(1000, appFlow), appFlow('last'));
    queue.add(appFlow('last'), 1);
    const claims = worker.fill();
    assert.equal(worker.heldOf(appFlow('last')), 1);
    assert.ok(claims.length <= 10, `${claims.length} claims`);
  });

  it('the fair order serves each of 50,000 apps once, and names at most 320 apps in a claim #many-parties', () => {
    const flows = manyFlows(50_000, appFlow);
    const queue = new Queue();
    for (const flow of flows) queue.add(flow, 1);
    const worker = new Worker(64, PREDICT, queue);
    worker.hear(...flows);
    const asked: number[] = [];
    let served = 0;
    do {
      asked.push(...worker.fill().map(({ length }) => length));
      served += worker.running.length;
      while (worker.running.length > 0) worker.end();
    } while (worker.order.isReady);
    assert.equal(served, flows.length);
    assert.ok(Math.max(...asked) <= 64 + 256);
    assert.ok(asked.length <= 1.1 * (flows.length / 64), `${asked.length} claims`);
  });

  it('the fair order of two workers serves all announced work, and leaves no slot free that waiting work may take', () => {
    const flows = [...manyFlows(3, appFlow), ...manyFlows(2, accountFlow), ...manyFlows(2, draftFlow)];
    const flow = fc.constantFrom(...flows);
    const worker = fc.nat({ max: 1 });
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('add' as const), flow, count: fc.integer({ min: 1, max: 20 }), worker }),
        fc.record({ do: fc.constantFrom('ask' as const, 'answer' as const, 'end' as const), worker }),
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 12 }), (all, slots) => {
        const queue = new Queue();
        const workers = [0, 1].map(() => ({
          worker: new Worker(slots, PREDICT, queue),
          heard: new Set<Flow>(),
          inFlight: [] as (() => void)[],
        }));
        for (const step of all) {
          const at = workers[step.worker];
          if (at === undefined) continue;
          if (step.do === 'add') {
            queue.add(step.flow, step.count);
            at.heard.add(step.flow);
            at.worker.hear(step.flow);
          } else if (step.do === 'ask') {
            const asks = at.worker.order.ask();
            const claimed = queue.claim(asks);
            // Later work of a flow that this claim drained has to be announced again.
            for (const known of at.heard)
              if (queue.waitingOf(known) === 0 && asks.some((one) => nameOf(one) === nameOf(known)))
                at.heard.delete(known);
            at.inFlight.push(() => at.worker.take(asks, claimed));
          } else if (step.do === 'answer') at.inFlight.shift()?.();
          else at.worker.end();
          assert.ok(at.worker.order.free >= 0);
        }
        for (const { inFlight } of workers) for (const answer of inFlight) answer();
        for (const { worker: one, heard } of workers) {
          one.fill();
          const { free } = one.order;
          assert.equal(free, slots - one.running.length);
          for (const known of heard) {
            const held = one.heldByPartyOf(known);
            const ofClass = (flow: Flow) => (flow.kind === 'predict') === (known.kind === 'predict');
            // An app or account takes part of a half, while the other class waits.
            const isShared = [...heard].some((flow) => !ofClass(flow));
            const half = known.kind === 'predict' ? Math.ceil(slots / 2) : Math.floor(slots / 2);
            const room = isShared ? half : slots;
            const left = Math.min(
              free,
              room - one.running.filter((flow) => !isShared || ofClass(flow)).length,
            );
            const limit = room < 4 ? left : 15 * (left - 1) - held;
            const mayHoldMore = free > 0 && (held === 0 || limit >= 1);
            assert.ok(
              queue.waitingOf(known) === 0 || !mayHoldMore,
              `${nameOf(known)} waits, its party holds ${held}`,
            );
          }
        }
        while (workers.some(({ worker: one }) => one.running.length > 0))
          for (const { worker: one } of workers) {
            one.end();
            one.fill();
          }
        for (const known of flows) assert.equal(queue.waitingOf(known), 0, nameOf(known));
      }),
    );
  });
});

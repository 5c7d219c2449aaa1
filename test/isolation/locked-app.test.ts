import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { flood, slowest, tally } from '../support/flood.ts';
import { type HeldRowAnswers, undocumentedAnswers, whileRowIsHeld } from '../support/held-row.ts';
import { lockRow } from '../support/row-lock.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const HELD_MS = 6000;
const SHORT_LOCK_MS = 150;
const DEADLINE_MS = 10_000;
/**
 * Much less than the time for which the row is locked. `test/acceptance/locked-app.ts` measures the promised 300 ms.
 */
const EXTRA_LATENCY_MAX_MS = 1500;
const USERS = 40;
/** Maximum delay of the app's own calls that do not need the locked row. */
const OWN_CALL_MAX_MS = 3000;

describe('locked rows', () => {
  const system = useProcesses({
    env: { PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`, SANDBOX_UNITS: '1000000' },
  });

  describe("app's usage", () => {
    let seen: HeldRowAnswers;
    let reserved: () => Promise<number>;
    before(async function () {
      this.timeout(40_000);
      const [app, other] = [await system.app(), await system.app()];
      await app.predict(predictionBody());
      reserved = async () => (await app.usage()).body.reserved_units;
      seen = await whileRowIsHeld(system, {
        ...{ table: 'usage', where: 'app_id = $1', values: [app.id], heldMs: HELD_MS },
        victim: { app },
        others: [{ app: other }],
      });
    });

    it("while an app's usage row is locked, no call of another app fails", () => expectAnswered(seen, 0));

    it("while an app's usage row is locked, calls of another app are delayed by less than 1.5 s", () =>
      expectUnnoticed(seen, 0, EXTRA_LATENCY_MAX_MS));

    it("while an app's usage row is locked, each of its calls gets a documented answer within 1 s of the deadline", () => {
      assert.deepEqual(undocumentedAnswers(seen.own, DEADLINE_MS), []);
    });

    it("once the lock on an app's usage row is released, the app's next call succeeds within 2 s", () => {
      expectAtOnce(seen);
    });

    it("a lock on an app's usage row leaves no unit reserved", async () => {
      await until(async () => (await reserved()) === 0, DEADLINE_MS + 2000);
    });
  });

  describe('usage of an app with connected users', () => {
    let seen: HeldRowAnswers;
    before(async function () {
      this.timeout(60_000);
      const [app, other, person] = [await connectingApp(system), await system.app(), await signUp(system)];
      const users = Array.from({ length: USERS }, (_, n) => `u-${n}`);
      const crowd = await Promise.all(
        users.map(async (user_id) => {
          const { connection_id } = await connect(system, app, person, user_id);
          return { user_id, connection_id };
        }),
      );
      await app.predict(predictionBody());
      seen = await whileRowIsHeld(system, {
        ...{ table: 'usage', where: 'app_id = $1', values: [app.id], heldMs: HELD_MS },
        victim: { app },
        crowd,
        others: [{ app: other }],
      });
    });

    it("while an app's usage row is locked and its 40 connected users call, no call of another app fails", () =>
      expectAnswered(seen, 0));

    it("while an app's usage row is locked and its 40 connected users call, calls of another app are delayed by less than 1.5 s", () =>
      expectUnnoticed(seen, 0, EXTRA_LATENCY_MAX_MS));

    it("while an app's usage row is locked, each call of the app's 40 connected users gets a documented answer", () => {
      assert.deepEqual(undocumentedAnswers(seen.own, DEADLINE_MS), []);
    });
  });

  it("a lock of 150 ms on an app's usage row makes no call of the app fail", async () => {
    const app = await system.app();
    await app.predict(predictionBody());
    const lock = await lockRow(system, 'usage', 'app_id = $1', [app.id]);
    const replies = flood(app, 10);
    await sleep(SHORT_LOCK_MS);
    await lock.release();
    assert.deepEqual(tally(await replies), { 200: 10 });
  });

  describe('connection of an app', () => {
    let seen: HeldRowAnswers;
    before(async function () {
      this.timeout(40_000);
      const [app, other] = [await connectingApp(system), await system.app()];
      const { connection_id } = await connect(system, app, await signUp(system));
      const neighbour = await connect(system, app, await signUp(system), 'u-3');
      seen = await whileRowIsHeld(system, {
        ...{ table: 'connections', where: 'id = $1', values: [connection_id], heldMs: HELD_MS },
        victim: { app, part: { connection_id } },
        others: [
          { app: other },
          { app, part: { user_id: 'u-2' } },
          { app, part: { user_id: 'u-3', connection_id: neighbour.connection_id } },
        ],
      });
    });

    it('while a connection row is locked, no call of another app fails', () => expectAnswered(seen, 0));

    it('while a connection row is locked, calls of another app are delayed by less than 1.5 s', () =>
      expectUnnoticed(seen, 0, EXTRA_LATENCY_MAX_MS));

    it("while a connection row is locked, the app's calls without a connection succeed, delayed by less than 3 s", () => {
      expectAnswered(seen, 1);
      expectUnnoticed(seen, 1, OWN_CALL_MAX_MS);
    });

    it("while a connection row is locked, the app's calls with another person's connection succeed, delayed by less than 1.5 s", () => {
      expectAnswered(seen, 2);
      expectUnnoticed(seen, 2, EXTRA_LATENCY_MAX_MS);
    });

    it('while a connection row is locked, each call with the connection gets a documented answer', () => {
      assert.deepEqual(undocumentedAnswers(seen.own, DEADLINE_MS), []);
    });

    it('once the lock on a connection row is released, the next call with the connection succeeds within 2 s', () =>
      expectAtOnce(seen));
  });
});

function expectAnswered({ others }: HeldRowAnswers, other: number): void {
  const { during = [] } = others[other] ?? {};
  assert.deepEqual(tally(during), { 200: during.length });
  assert.ok(during.length > 10, `${during.length} calls are too few to tell`);
}

function expectUnnoticed({ others, noise }: HeldRowAnswers, other: number, withinMs: number): void {
  const { before = [], during = [] } = others[other] ?? {};
  assert.ok(
    slowest(during) < slowest(before) + withinMs + noise.slowest,
    `up to ${slowest(before)} ms before, up to ${slowest(during)} ms during it, ${noise.slowest} of noise`,
  );
}

function expectAtOnce({ first }: HeldRowAnswers): void {
  assert.equal(first.status, 200, first.text);
  assert.ok(first.tookMs < 2000, `after ${first.tookMs} ms`);
}

import assert from 'node:assert/strict';
import { signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { slowest, tally } from '../support/flood.ts';
import { type HeldRowAnswers, undocumentedAnswers, whileRowIsHeld } from '../support/held-row.ts';
import { promisedMs } from '../support/scale.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const HELD_MS = 6000;
const DEADLINE_MS = 10_000;
/** Much less than the time for which the row is locked. */
const EXTRA_LATENCY_MAX_MS = promisedMs(300, 1500);

describe('locked rows', () => {
  const system = useProcesses({
    env: { PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`, SANDBOX_UNITS: '1000000' },
  });

  describe("app's usage", () => {
    let seen: HeldRowAnswers;
    let reserved: () => Promise<number>;
    before(async () => {
      const [app, other] = [await system.app(), await system.app()];
      await app.predict(predictionBody());
      reserved = async () => (await app.usage()).body.reserved_units;
      seen = await whileRowIsHeld(system, {
        ...{ table: 'usage', where: 'app_id = $1', values: [app.id], heldMs: HELD_MS },
        victim: { app },
        others: [{ app: other }],
      });
    });

    it("while an app's usage row is locked, no call of another app fails #locked-rows", () =>
      expectAnswered(seen, 0));

    it("while an app's usage row is locked, calls of another app are delayed by less than 1.5 s #locked-rows", () =>
      expectUnnoticed(seen, 0));

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

  describe('connection of an app', () => {
    let seen: HeldRowAnswers;
    before(async () => {
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

    it('while a connection row is locked, no call of another app fails #locked-rows', () =>
      expectAnswered(seen, 0));

    it('while a connection row is locked, calls of another app are delayed by less than 1.5 s #locked-rows', () =>
      expectUnnoticed(seen, 0));

    it("while a connection row is locked, the app's calls without it or with another person's connection succeed, delayed by less than 1.5 s", () => {
      for (const own of [1, 2]) {
        expectAnswered(seen, own);
        expectUnnoticed(seen, own);
      }
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

function expectUnnoticed({ others, noise }: HeldRowAnswers, other: number): void {
  const { before = [], during = [] } = others[other] ?? {};
  assert.ok(
    slowest(during) < slowest(before) + EXTRA_LATENCY_MAX_MS + noise.slowest,
    `up to ${slowest(before)} ms before, up to ${slowest(during)} ms during it, ${noise.slowest} of noise`,
  );
}

function expectAtOnce({ first }: HeldRowAnswers): void {
  assert.equal(first.status, 200, first.text);
  assert.ok(first.tookMs < 2000, `after ${first.tookMs} ms`);
}

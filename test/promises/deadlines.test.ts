import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody, type Reply } from '../support/client.ts';
import { hang, ok, status } from '../support/fake-provider.ts';
import { lockRow } from '../support/row-lock.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { whileFrozen } from '../support/time-travel.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

const TIMEOUT_MS = 1500;
const CANCEL = { 'x-on-disconnect': 'cancel' };
/**
 * Accepted deviations from a deadline: workers stop a little before it, and a busy machine may answer late, but long
 * before a lease ends.
 */
const [EARLY_MS, LATE_MS] = [500, 3000];

function assertTimedOut(reply: Reply<unknown>, afterMs = TIMEOUT_MS) {
  assert.deepEqual([reply.status, reply.code], [504, 'prediction_timeout'], reply.text);
  const late = reply.tookMs - afterMs;
  assert.ok(late > -EARLY_MS && late < LATE_MS, `${reply.tookMs} ms instead of ${afterMs}`);
}

describe('deadlines', () => {
  describe('without a time limit per attempt', () => {
    const system = useSystem({ env: { PREDICTION_TIMEOUT_MS: String(TIMEOUT_MS) } });
    beforeEach(() => system.provider.reset());

    it('a prediction whose provider hangs is 504 at the deadline, aborts the provider call and costs nothing #deadline', async () => {
      const app = await system.app();
      system.provider.respond(hang());
      const body = predictionBody();
      const waiting = app.predict(body);
      const { aborted } = await system.provider.called(1);
      const reply = await waiting;
      const row = await rowOf(system, body);
      assertTimedOut(reply);
      assert.deepEqual([row.state, row.code, row.units], ['failed', 'prediction_timeout', 0]);
      assert.ok((await aborted) < performance.now());
      assert.equal(system.provider.calls.length, 1);
      await assertUnits(app, 0);
    });

    it('a prediction answered near its deadline is charged if and only if its caller gets 200, and no answer is 3 s late #deadline', async () => {
      const app = await system.app();
      // Some answers come before the worker's limit, some after the caller's deadline.
      system.provider.respond(async (response, call) => {
        await sleep(1150 + (call.index % 20) * 20);
        if (call.abortedAt === null) await ok()(response, call);
      });
      const calls = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const body = predictionBody();
          return { body, reply: await app.predict(body) };
        }),
      );
      await Promise.all(system.provider.calls.map((call) => call.ended));
      for (const { body, reply } of calls) {
        const { state } = await rowOf(system, body);
        assert.equal(state, reply.status === 200 ? 'suggested' : 'failed', `answered ${reply.status}`);
        if (reply.status !== 200) assertTimedOut(reply);
        else assert.ok(reply.tookMs < TIMEOUT_MS + LATE_MS, `200 after ${reply.tookMs} ms`);
      }
      const suggested = calls.filter(({ reply }) => reply.status === 200).length;
      assert.ok(suggested < 40, 'no answer was too late');
      await assertUnits(app, suggested);
    });

    it("a caller that attaches to a running attempt gets the attempt's deadline", async () => {
      const app = await system.app();
      system.provider.respond(hang());
      const body = predictionBody();
      const first = new AbortController();
      const left = assert.rejects(app.predict(body, { signal: first.signal }));
      await system.provider.called(1);
      const since = performance.now();
      // Only the ingress can end the second caller's wait: the worker is frozen, and the first caller has disconnected.
      await whileFrozen(system.workers, async () => {
        await sleep(700);
        first.abort();
        await left;
        const second = await app.predict(body, { headers: { prefer: 'wait' } });
        const waitedMs = performance.now() - since - second.tookMs;
        assertTimedOut(second, TIMEOUT_MS - waitedMs);
      });
    });

    it('a prediction that the provider refuses is answered at once, not at its deadline #fast-failure', async () => {
      const app = await system.app();
      for (const refusal of [status(500), status(429), status(401)]) {
        system.provider.respond(refusal);
        const { tookMs, status: code } = await app.predict(predictionBody());
        assert.ok(code === 502 || code === 503, `status ${code}`);
        assert.ok(tookMs < TIMEOUT_MS - EARLY_MS, `refused after ${tookMs} ms`);
      }
      assert.equal(system.provider.calls.length, 3);
      await assertUnits(app, 0);
    });

    it('a request that got 503 at its deadline runs again when its caller repeats it', async () => {
      const app = await system.app();
      const body = predictionBody();
      system.provider.next(hang());
      const waiting = app.predict(body, { headers: CANCEL });
      await system.provider.called(1);
      const lock = await lockRow(system, 'usage', 'app_id = $1', [app.id]);
      const refused = await waiting;
      assert.deepEqual([refused.status, refused.code], [503, 'service_unavailable']);
      await lock.release();
      await until(async () => (await rowOf(system, body)).ended_at !== null);
      const again = await app.predict(body, { headers: CANCEL });
      assert.equal(again.status, 200, again.text);
      assert.equal((await rowOf(system, body)).attempt, 2);
    });
  });

  describe('with a time limit per attempt', () => {
    const system = useSystem({
      env: { PREDICTION_TIMEOUT_MS: '2000', PROVIDER_TIMEOUT_MS: '600' },
    });
    beforeEach(() => system.provider.reset());

    it('a prediction that no worker claims before its deadline is 504 and never starts #deadline', async () => {
      const app = await system.app();
      const body = predictionBody();
      await whileFrozen(system.workers, async () => {
        assertTimedOut(await app.predict(body), 2000);
        assert.equal((await rowOf(system, body)).state, 'failed');
        await assertUnits(app, 0);
      });
      // The first prediction, if it were still queued, would run before this one.
      assert.equal((await app.predict(predictionBody())).status, 200);
      assert.equal(system.provider.calls.length, 1);
      const { state, started_at } = await rowOf(system, body);
      assert.deepEqual([state, started_at], ['failed', null]);
      await assertUnits(app, 1);
    });

    it('a prediction whose first provider call times out makes a second call before its deadline, and succeeds', async () => {
      const app = await system.app();
      system.provider.next(hang());
      const reply = await app.predict(predictionBody());
      assert.equal(reply.status, 200, reply.text);
      assert.equal(system.provider.calls.length, 2);
      await system.provider.calls[0]?.aborted;
      await assertUnits(app, 1);
    });
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, ok, type ProviderCall, status } from '../support/fake-provider.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const PROBE_EVERY_MS = 1000;
const CALLERS = 9;
/** How soon every worker knows what one has seen. */
const KNOWN_WITHIN_MS = 1000;

const env = {
  PROVIDER_PROBE_EVERY_MS: `${PROBE_EVERY_MS}`,
  SANDBOX_UNITS: '1000000',
  WORKER_CONCURRENCY: '3',
};

describe('the policy towards a provider, over all workers', () => {
  for (const withoutWakeUps of [false, true])
    describe(withoutWakeUps ? 'when every message between them is lost' : 'in order', () => {
      let system: System;
      let app: AppClient;
      before(async () => {
        system = await startSystem({ workers: 3, withoutWakeUps, env });
        app = await system.app();
      });
      after(() => system?.stop());
      beforeEach(async () => {
        system.provider.reset();
        await until(async () => (await app.predict(predictionBody())).status === 200);
        system.provider.reset();
      });

      /** Callers that ask again and again, until `done`. More at once than one worker takes. */
      async function keepAsking(done: (reply: Reply<unknown>) => boolean): Promise<Reply<unknown>[]> {
        const replies: Reply<unknown>[] = [];
        let stop = false;
        await Promise.all(
          Array.from({ length: CALLERS }, async () => {
            while (!stop) {
              const reply = await app.predict(predictionBody());
              replies.push(reply);
              stop ||= done(reply);
              await sleep(10);
            }
          }),
        );
        return replies;
      }

      it('nobody calls a model before the time that its Retry-After names', async () => {
        system.provider.next(status(429, { 'retry-after': '3' }));
        const refused = await app.predict(predictionBody());
        assert.equal(refused.code, 'provider_rate_limited');
        const [{ finishedAt }] = system.provider.calls as [ProviderCall];
        assert.ok(finishedAt !== null);
        const replies = await keepAsking(
          ({ status: code }) => code === 200 && performance.now() > finishedAt + 3000,
        );
        const early = system.provider.calls.filter(
          ({ startedAt }) => startedAt > finishedAt + KNOWN_WITHIN_MS && startedAt < finishedAt + 2980,
        );
        assert.equal(early.length, 0, `${early.length} calls in spite of Retry-After`);
        const others = replies.filter(({ status: code }) => code !== 200);
        assert.ok(others.length > CALLERS);
        for (const { code, headers } of others) {
          assert.equal(code, 'provider_rate_limited');
          assert.ok(Number(headers.get('retry-after')) > 0);
        }
      });

      it('twenty failures in a row stop everybody but one probe per interval, until one succeeds', async () => {
        system.provider.respond(status(500));
        const calls = system.provider.calls;
        const replies = await keepAsking(() => {
          const opened = calls[19]?.finishedAt ?? Number.POSITIVE_INFINITY;
          return performance.now() > opened + 4.5 * PROBE_EVERY_MS;
        });
        assert.ok(replies.every(({ code }) => code === 'provider_failed'));
        const opened = calls[19]?.finishedAt ?? 0;
        const after = calls.map(({ startedAt }) => startedAt - opened);
        // Calls that were on their way when the circuit opened.
        const late = after.slice(20).filter((ms) => ms < PROBE_EVERY_MS / 2).length;
        const probes = after.slice(20 + late);
        assert.ok(probes.length >= 2 && probes.length <= 5, `${probes.length} probes: ${probes}`);
        probes.reduce((before, ms) => {
          assert.ok(ms - before > PROBE_EVERY_MS - 100, `probes at ${probes} ms`);
          return ms;
        });
        assert.ok((probes[0] ?? 0) > PROBE_EVERY_MS / 2, `the first probe at ${probes[0]} ms`);

        // Another app is asked once for its own failure, and counts from then on.
        const other = await system.app();
        const before = calls.length;
        await Promise.all(Array.from({ length: 5 }, () => other.predict(predictionBody())));
        assert.ok(calls.length > before);

        system.provider.respond(ok());
        await keepAsking(({ status: code }) => code === 200);
        await sleep(KNOWN_WITHIN_MS);
        const again = await Promise.all(Array.from({ length: CALLERS }, () => app.predict(predictionBody())));
        assert.ok(again.every(({ status: code }) => code === 200));
      });
    });

  it('no more calls at once than PROVIDER_CONCURRENCY, however many workers', async () => {
    const system = await startSystem({
      workers: 2,
      env: { PROVIDER_CONCURRENCY: '4', WORKER_CONCURRENCY: '8' },
    });
    try {
      const app = await system.app();
      // Until the workers have counted each other.
      await sleep(600);
      let most = 0;
      system.provider.respond((response, call) => {
        most = Math.max(most, system.provider.running);
        return delay(150)(response, call);
      });
      const replies = await Promise.all(Array.from({ length: 24 }, () => app.predict(predictionBody())));
      assert.ok(replies.every(({ status: code }) => code === 200));
      assert.ok(most > 2 && most <= 4, `${most} at once`);
    } finally {
      await system.stop();
    }
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, hang, type ProviderCall, status } from '../support/fake-provider.ts';
import { startProcesses, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const WORKERS = 4;
const PROBE_EVERY_MS = 1000;
/** More concurrent callers than three workers have slots. */
const CALLERS = 16;
const FAILURES_TO_OPEN = 20;
/** Time within which every worker learns what one worker has seen. */
const KNOWN_WITHIN_MS = 1000;

const env = {
  PROVIDER_PROBE_EVERY_MS: `${PROBE_EVERY_MS}`,
  SANDBOX_UNITS: '1000000',
  WORKER_CONCURRENCY: '4',
  // Long, so that callers are not refused as overload because the first calls waited.
  PREDICTION_TIMEOUT_MS: '30000',
  // Short, so that a killed worker's work is soon taken over.
  LEASE_MS: '5000',
};

describe('policy of all workers', () => {
  for (const condition of ['', ', even when every message between workers is lost'])
    describe(condition === '' ? 'with wake-ups' : 'without wake-ups', () => {
      const system = useProcesses({ workers: 0, withoutWakeUps: condition !== '', env });
      let app: AppClient;
      before(async () => {
        await Promise.all(Array.from({ length: WORKERS }, (_, n) => startWorker(n)));
        app = await system.app();
      });
      beforeEach(async () => {
        system.provider.reset();
        await until(async () => (await app.predict(predictionBody())).status === 200);
        system.provider.reset();
      });

      /** Starts worker `n`, whose API key contains its number. */
      const startWorker = (n: number) => system.startWorker({ OPENAI_API_KEY: `sk-${n}` });
      const workerOf = ({ headers }: ProviderCall) =>
        Number(headers.authorization?.replace('Bearer sk-', ''));
      const workersAmong = (calls: readonly ProviderCall[]) => new Set(calls.map(workerOf));

      /** Runs callers that ask repeatedly until `done` accepts a reply. Returns all replies. */
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

      /**
       * Slows the provider so that each worker finds waiting work. Resolves when every worker has called the
       * provider.
       */
      async function everyoneCalls(): Promise<void> {
        system.provider.respond(delay(200));
        const { calls } = system.provider;
        const before = calls.length;
        const late = performance.now() + 10_000;
        await keepAsking(
          () => workersAmong(calls.slice(before)).size === WORKERS || performance.now() > late,
        );
        assert.equal(workersAmong(calls.slice(before)).size, WORKERS);
      }

      it(`no worker calls the provider from 1 s after its 429 until its Retry-After is over${condition}`, async () => {
        await everyoneCalls();
        system.provider.respond(delay(20));
        const { calls } = system.provider;
        let refused: ProviderCall | undefined;
        system.provider.next((response, call) => {
          refused = call;
          return status(429, { 'retry-after': '3' })(response, call);
        });
        const pauseMs = () => performance.now() - (refused?.finishedAt ?? performance.now());
        const replies = await keepAsking(({ status: code }) => code === 200 && pauseMs() > 3000);
        const toldAt = refused?.finishedAt ?? 0;
        const after = calls.map(({ startedAt }) => startedAt - toldAt).filter((ms) => ms > 0);
        const early = after.filter((ms) => ms > KNOWN_WITHIN_MS && ms < 2980);
        assert.equal(early.length, 0, `${early.length} calls in spite of Retry-After`);
        await everyoneCalls();

        const others = replies.filter(({ status: code }) => code !== 200);
        assert.ok(others.length > CALLERS);
        for (const { code } of others) assert.equal(code, 'provider_rate_limited');
        const told = others.map(({ headers }) => Number(headers.get('retry-after')));
        assert.ok(told.includes(3) && told.every((seconds) => seconds >= 1 && seconds <= 3), `${told}`);
      });

      it(`after twenty provider failures, all workers together send one probe per interval until a probe succeeds${condition}`, async () => {
        await everyoneCalls();
        system.provider.reset();
        system.provider.respond(status(500));
        const { calls } = system.provider;
        const openedAt = () => calls[FAILURES_TO_OPEN - 1]?.finishedAt ?? Number.POSITIVE_INFINITY;
        const replies = await keepAsking(() => performance.now() > openedAt() + 6.5 * PROBE_EVERY_MS);
        const refused = replies.filter(({ code }) => code === 'provider_failed');
        assert.equal(refused.length, replies.length);
        const after = calls.map(({ startedAt }) => startedAt - openedAt()).filter((ms) => ms > 0);
        // Calls sent before all workers knew that the circuit was open.
        const late = after.filter((ms) => ms < PROBE_EVERY_MS - 100);
        assert.ok(late.every((ms) => ms < KNOWN_WITHIN_MS));
        const probes = after.slice(late.length);
        assertOneEachInterval(probes, 6);
        assert.ok(
          refused.some(({ headers }) => headers.get('retry-after') === '1'),
          'a refusal states when the next probe is',
        );

        // The circuit is open only for apps whose own calls failed.
        const other = await system.app();
        const before = calls.length;
        await Promise.all(Array.from({ length: 5 }, () => other.predict(predictionBody())));
        assert.ok(calls.length > before);

        system.provider.respond(delay(20));
        await keepAsking(({ status: code }) => code === 200);
        await sleep(KNOWN_WITHIN_MS);
        const again = await Promise.all(Array.from({ length: CALLERS }, () => app.predict(predictionBody())));
        assert.ok(again.every(({ status: code }) => code === 200));
        await everyoneCalls();
      });

      it(`when a worker dies while it probes the provider, other workers send the next probes, one per interval${condition}`, async () => {
        system.provider.respond(status(500));
        const { calls } = system.provider;
        await keepAsking(() => calls.length >= FAILURES_TO_OPEN);
        await sleep(KNOWN_WITHIN_MS);
        let probe: ProviderCall | undefined;
        system.provider.next((response, call) => {
          probe = call;
          const victim = system.workers[workerOf(call)];
          assert.ok(victim);
          victim.kill();
          return hang()(response, call);
        });
        const since = () => performance.now() - (probe?.startedAt ?? performance.now());
        await keepAsking(() => since() > 4.5 * PROBE_EVERY_MS);
        assert.ok(probe);
        const { index, startedAt } = probe;
        // Later calls include the killed worker's work, which another worker takes over.
        const probes = calls
          .slice(index)
          .map((call) => call.startedAt - startedAt)
          .filter((ms) => ms < 4.5 * PROBE_EVERY_MS);
        assertOneEachInterval(probes, 5);
        const victim = workerOf(probe);
        assert.ok(!workersAmong(calls.slice(index + 1)).has(victim));
        const [next] = calls.slice(index + 1);
        assert.ok(next !== undefined);
        // Keeps each worker's index equal to its number.
        system.workers[victim] = await startWorker(victim);
        system.workers.pop();
      });
    });

  it('all workers together run at most PROVIDER_CONCURRENCY provider calls at once', async () => {
    await using system = await startProcesses({
      workers: 2,
      env: { PROVIDER_CONCURRENCY: '4', WORKER_CONCURRENCY: '8' },
    });
    const app = await system.app();
    // Waits until the workers have counted each other.
    await sleep(600);
    let most = 0;
    system.provider.respond((response, call) => {
      most = Math.max(most, system.provider.running);
      return delay(150)(response, call);
    });
    const replies = await Promise.all(Array.from({ length: 24 }, () => app.predict(predictionBody())));
    assert.ok(replies.every(({ status: code }) => code === 200));
    assert.ok(most > 2 && most <= 4, `${most} at once`);
  });
});

/** Asserts 2 to `max` probes, each at least an interval, less 100 ms, after the previous one. */
function assertOneEachInterval(probes: number[], max: number): void {
  assert.ok(probes.length >= 2 && probes.length <= max, `${probes.length} probes: ${probes}`);
  for (const [n, ms] of probes.slice(1).entries())
    assert.ok(ms - (probes[n] ?? 0) > PROBE_EVERY_MS - 100, `probes at ${probes} ms`);
}

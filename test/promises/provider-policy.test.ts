import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, type Step, status } from '../support/fake-provider.ts';
import { promote, say } from '../support/promotion.ts';
import { predictReply } from '../support/replies.ts';
import { type System, startSystem, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const PROBE_EVERY_MS = 1000;
const FAILURES_TO_OPEN = 20;

describe('circuit breaker of a worker', () => {
  const system = useSystem({
    env: { PROVIDER_PROBE_EVERY_MS: `${PROBE_EVERY_MS}`, SANDBOX_UNITS: '1000000' },
  });
  let app: AppClient;
  before(async () => {
    app = await system.app();
  });
  beforeEach(async () => {
    system.provider.respond(status(500));
    await until(async () => (await app.predict(predictionBody())).headers.has('retry-after'));
  });
  afterEach(async () => {
    system.provider.respond(delay(20));
    await until(async () => (await app.predict(predictionBody())).status === 200);
  });
  const askTogether = () => Promise.all(Array.from({ length: 8 }, () => app.predict(predictionBody())));

  it('a worker whose provider failed twenty times in a row sends one probe per interval, and refuses other calls until then', async () => {
    const { calls } = system.provider;
    const before = calls.length;
    const replies = [];
    while (calls.length < before + 3) replies.push(...(await askTogether()));
    const starts = calls.slice(before).map(({ startedAt }) => startedAt);
    for (const [n, at] of starts.slice(1).entries())
      assert.ok(at - (starts[n] ?? 0) > PROBE_EVERY_MS / 2, `probes at ${starts}`);
    assert.ok(replies.every(({ code }) => code === 'provider_failed'));
    // A refusal says when the next probe is; the probes themselves do not know.
    assert.equal(
      replies.filter(({ headers }) => headers.get('retry-after') === '1').length,
      replies.length - starts.length,
    );
  });

  it('a worker calls its provider for everybody again as soon as a probe succeeds', async () => {
    system.provider.respond(delay(20));
    await until(async () => (await app.predict(predictionBody())).status === 200);
    for (const { status: code } of await askTogether()) assert.equal(code, 200);
  });

  it("one app's failed calls to the provider do not stop another app's calls", async () => {
    const other = await system.app();
    system.provider.next(delay(20));
    assert.equal((await other.predict(predictionBody())).status, 200);
  });
});

describe('PROVIDER_CONCURRENCY', () => {
  it('a worker runs at most PROVIDER_CONCURRENCY provider calls at once, and the other calls wait', async () => {
    await using system = await startSystem({ env: { PROVIDER_CONCURRENCY: '3', WORKER_CONCURRENCY: '8' } });
    const app = await system.app();
    let most = 0;
    system.provider.respond((response, call) => {
      most = Math.max(most, system.provider.running);
      return delay(150)(response, call);
    });
    const replies = await Promise.all(Array.from({ length: 12 }, () => app.predict(predictionBody())));
    assert.ok(replies.every(({ status: code }) => code === 200));
    assert.equal(most, 3);
  });
});

describe('Retry-After', () => {
  let system: System;
  let app: AppClient;
  let person: UserClient;
  // A provider's Retry-After is remembered, so each test has its own system.
  beforeEach(async () => {
    system = await startSystem({ workerEntry: ['workers/main.ts', 'all'], env });
    app = await system.app();
    person = await signUp(system);
    await say(person, ['I like tea.']);
  });
  afterEach(() => system?.stop());
  const env = { PROVIDER_PROBE_EVERY_MS: '60000' };

  const predictWith = (step: Step) => {
    system.provider.respond(step);
    return app.predict(predictionBody());
  };

  function assertRefused(reply: Reply<unknown>, code: number, maxS: number): void {
    assert.equal(reply.status, code);
    const seconds = Number(reply.headers.get('retry-after'));
    assert.ok(seconds <= maxS && seconds > maxS - 10, `${seconds}`);
  }

  it("the provider's Retry-After is passed on in answers to apps and accounts, and counts down", async () => {
    const first = await predictWith(status(429, { 'retry-after': '30' }));
    assert.equal(first.code, 'provider_rate_limited');
    assert.equal(first.headers.get('retry-after'), '30');
    const calls = system.provider.calls.length;
    assertRefused(await app.predict(predictionBody()), 503, 30);
    assertRefused(await predictReply(person), 429, 30);
    assertRefused(await promote(person, 'episodes'), 429, 30);
    assert.equal(system.provider.calls.length, calls);
  });

  it('while the circuit breaker is open, Retry-After is the time until the next probe of the provider', async () => {
    system.provider.respond(status(429));
    for (let n = 0; n < FAILURES_TO_OPEN; n++) {
      const reply = await app.predict(predictionBody());
      // The default, since the provider states no time.
      assert.equal(reply.headers.get('retry-after'), '5');
    }
    assertRefused(await app.predict(predictionBody()), 503, 60);
    assert.equal(system.provider.calls.length, FAILURES_TO_OPEN);
  });

  it('a 502 has a Retry-After only if the provider sent one', async () => {
    const failed = await predictWith(status(500));
    assert.equal(failed.status, 502);
    assert.equal(failed.headers.get('retry-after'), null);
    assertRefused(await predictWith(status(503, { 'retry-after': '20' })), 502, 20);
    assertRefused(await app.predict(predictionBody()), 502, 20);
  });

  it("the provider's Retry-After is capped at ten minutes", async () => {
    const header = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
    assertRefused(await predictWith(status(429, { 'retry-after': header })), 503, 600);
  });
});

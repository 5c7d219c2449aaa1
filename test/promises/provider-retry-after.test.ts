import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { type Step, status } from '../support/fake-provider.ts';
import { promote, say } from '../support/promotion.ts';
import { predictReply } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';

const FAILURES_TO_OPEN = 20;

describe('Retry-After', () => {
  let system: System;
  let app: AppClient;
  let person: UserClient;
  // What the provider has asked for is remembered, so each test has an installation of its own.
  beforeEach(async () => {
    system = await startSystem({ workerEntry: ['workers/main.ts', 'all'], env });
    app = await system.app();
    person = await signUp(system);
    await say(person, ['I like tea.']);
  });
  afterEach(() => system?.stop());
  const env = { PROVIDER_PROBE_EVERY_MS: '60000' };

  const refusedFor = (step: Step) => {
    system.provider.respond(step);
    return app.predict(predictionBody());
  };

  function assertRefused(reply: Reply<unknown>, code: number, most: number): void {
    assert.equal(reply.status, code);
    const seconds = Number(reply.headers.get('retry-after'));
    // A busy machine may let some of the time pass.
    assert.ok(seconds <= most && seconds > most - 10, `${seconds}`);
  }

  it('how long a refusal of the provider lasts is in the answers on both surfaces, of predictions and jobs, and gets shorter', async () => {
    const first = await refusedFor(status(429, { 'retry-after': '30' }));
    assert.equal(first.code, 'provider_rate_limited');
    assert.equal(first.headers.get('retry-after'), '30');
    const calls = system.provider.calls.length;
    assertRefused(await app.predict(predictionBody()), 503, 30);
    assertRefused(await predictReply(person), 429, 30);
    assertRefused(await promote(person, 'episodes'), 429, 30);
    assert.equal(system.provider.calls.length, calls);
  });

  it('how long a refusal of the provider lasts is the time until the next probe while the circuit is open', async () => {
    system.provider.respond(status(429));
    for (let n = 0; n < FAILURES_TO_OPEN; n++) {
      const reply = await app.predict(predictionBody());
      // Nobody knows how long.
      assert.equal(reply.headers.get('retry-after'), '5');
    }
    assertRefused(await app.predict(predictionBody()), 503, 60);
    assert.equal(system.provider.calls.length, FAILURES_TO_OPEN);
  });

  it('how long a refusal of the provider lasts is in a 502 where it is known', async () => {
    const failed = await refusedFor(status(500));
    assert.equal(failed.status, 502);
    assert.equal(failed.headers.get('retry-after'), null);
    assertRefused(await refusedFor(status(503, { 'retry-after': '20' })), 502, 20);
    assertRefused(await app.predict(predictionBody()), 502, 20);
  });

  it('how long a refusal of the provider lasts is ten minutes at most', async () => {
    const header = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
    assertRefused(await refusedFor(status(429, { 'retry-after': header })), 503, 600);
  });
});

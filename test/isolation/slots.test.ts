import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody } from '../support/client.ts';
import { ok, when } from '../support/fake-provider.ts';
import { flood, tally } from '../support/flood.ts';
import { useProcesses } from '../support/system.ts';

const SLOW_MS = 7000;
const SLOW_CALLS = 90;
const SLOTS = 64;
/** Much shorter than a slow call. */
const PROMPT_MS = 2500;
const SLOW_DRAFT = { text: 'A slow one ', revision: 1 };

describe('slots of a worker', function () {
  this.timeout(60_000);
  const system = useProcesses({
    env: {
      WORKER_CONCURRENCY: `${SLOTS}`,
      PREDICTION_TIMEOUT_MS: '30000',
      PROVIDER_TIMEOUT_MS: '20000',
    },
  });
  /** Ends all slow calls when it is resolved. */
  let enough: PromiseWithResolvers<void>;
  beforeEach(() => {
    system.provider.reset();
    enough = Promise.withResolvers();
    system.provider.respond((response, call) => {
      const slow = call.record.draft === SLOW_DRAFT.text;
      return (slow ? when(Promise.race([sleep(SLOW_MS), enough.promise])) : ok())(response, call);
    });
  });
  afterEach(() => enough.resolve());

  it("while slow calls fill an app's share of a worker's 64 slots, another app's calls are answered within 2.5 s", async () => {
    const [slow, other] = [await system.app(), await system.app()];
    const flooded = flood(slow, SLOW_CALLS, { draft: SLOW_DRAFT });
    await untilSlotsAreTaken();
    await expectPrompt(other);
    enough.resolve();
    assert.deepEqual(tally(await flooded), { 200: SLOW_CALLS });
  });

  it("while slow calls fill two apps' shares of a worker's 64 slots, a third app's calls are answered within 2.5 s", async () => {
    const [slow, slower, third] = [await system.app(), await system.app(), await system.app()];
    const floods = [slow, slower].map((app) => flood(app, SLOW_CALLS, { draft: SLOW_DRAFT }));
    await untilSlotsAreTaken();
    await expectPrompt(third);
    enough.resolve();
    for (const flooded of floods) assert.deepEqual(tally(await flooded), { 200: SLOW_CALLS });
  });

  it("an app that is alone and has slow calls gets 60 of a worker's 64 slots", async () => {
    const slow = await system.app();
    const flooded = flood(slow, SLOW_CALLS, { draft: SLOW_DRAFT });
    await untilSlotsAreTaken();
    assert.equal(system.provider.running, (SLOTS * 15) / 16);
    enough.resolve();
    assert.deepEqual(tally(await flooded), { 200: SLOW_CALLS });
  });

  /** Waits until the worker claims no more calls: none has reached the provider for half a second. */
  async function untilSlotsAreTaken(): Promise<void> {
    for (let calls = -1; calls !== system.provider.calls.length || calls === 0; ) {
      calls = system.provider.calls.length;
      await sleep(500);
    }
  }

  async function expectPrompt(app: AppClient): Promise<void> {
    for (let n = 0; n < 3; n += 1) {
      const reply = await app.predict(predictionBody());
      assert.equal(reply.status, 200, reply.text);
      assert.ok(reply.tookMs < PROMPT_MS, `call ${n} took ${reply.tookMs} ms`);
    }
  }
});

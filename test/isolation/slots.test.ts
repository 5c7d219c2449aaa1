import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../support/account.ts';
import { predictionBody, type Reply } from '../support/client.ts';
import { delay, ok, type Step, when } from '../support/fake-provider.ts';
import { flood, tally } from '../support/flood.ts';
import { predictReply, promptIn, proposeReplies } from '../support/replies.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const SLOW_MS = 7000;
const SLOW_CALLS = 90;
const QUICK_MS = 1000;
const SLOTS = 64;
/** Much shorter than a slow call. */
const PROMPT_MS = 2500;
const SLOW_DRAFT = { text: 'A slow one ', revision: 1 };
const QUICK_DRAFT = { text: 'A quick one ', revision: 1 };

type Call = (
  draft?: typeof SLOW_DRAFT,
) => Promise<Pick<Reply<unknown>, 'status' | 'code' | 'text' | 'tookMs'>>;

describe('slots of a worker', () => {
  const system = useProcesses({
    env: {
      WORKER_CONCURRENCY: `${SLOTS}`,
      PREDICTION_TIMEOUT_MS: '30000',
      REPLY_TIMEOUT_MS: '30000',
      SANDBOX_UNITS: '1000000',
      PROVIDER_TIMEOUT_MS: '20000',
    },
  });
  /** Number of slow calls that the worker has begun. */
  let slowCount: number;
  /** Ends all slow calls when it is resolved. */
  let enough: PromiseWithResolvers<void>;
  beforeEach(() => {
    system.provider.reset();
    enough = Promise.withResolvers();
    slowCount = 0;
    system.provider.respond((response, call) => {
      const isReply = call.record.draft === undefined;
      const answer: Step = isReply ? proposeReplies([{ response: 'Blue' }]) : ok();
      const text = isReply ? promptIn(call) : call.record.draft;
      if (text === SLOW_DRAFT.text) slowCount += 1;
      const slow = when(Promise.race([sleep(SLOW_MS), enough.promise]), answer);
      const quick = text === QUICK_DRAFT.text ? delay(QUICK_MS, answer) : answer;
      return (text === SLOW_DRAFT.text ? slow : quick)(response, call);
    });
  });
  afterEach(() => enough.resolve());

  it("while slow calls fill an app's share of a worker's 64 slots, another app's calls are answered within 2.5 s #free-slot #slow-calls", async () => {
    const [slow, other] = [await system.app(), await system.app()];
    const flooded = flood(slow, SLOW_CALLS, { draft: SLOW_DRAFT });
    await untilSlotsAreTaken();
    await expectPrompt(() => other.predict(predictionBody()));
    enough.resolve();
    assert.deepEqual(tally(await flooded), { 200: SLOW_CALLS });
  });

  it("while slow calls fill two apps' shares of a worker's 64 slots, a third app's calls are answered within 2.5 s #free-slot", async () => {
    const [slow, slower, third] = [await system.app(), await system.app(), await system.app()];
    const floods = [slow, slower].map((app) => flood(app, SLOW_CALLS, { draft: SLOW_DRAFT }));
    await untilSlotsAreTaken();
    await expectPrompt(() => third.predict(predictionBody()));
    enough.resolve();
    for (const flooded of floods) assert.deepEqual(tally(await flooded), { 200: SLOW_CALLS });
  });

  const newApp = async (): Promise<Call> => {
    const app = await system.app();
    return (draft) => app.predict(predictionBody(draft && { draft }));
  };
  const newAccount = async (): Promise<Call> => {
    const person = await signUp(system);
    return (draft) => predictReply(person, draft && { agent_input: draft.text });
  };
  for (const [one, other, newOne, newOther] of [
    ['app', 'account', newApp, newAccount],
    ['account', 'app', newAccount, newApp],
  ] as const)
    it(`while slow calls of an ${one} and quick ones of an ${other} fill a worker's 64 slots, another ${one}'s calls are answered within 2.5 s #free-slot`, async () => {
      const [slow, quick, newcomer] = [await newOne(), await newOther(), await newOne()];
      let isOver = false;
      const quickCalls = Array.from({ length: SLOTS }, async () => {
        while (!isOver) assert.equal((await quick(QUICK_DRAFT)).status, 200);
      });
      await until(() => system.provider.calls.length >= SLOTS);
      const slowCalls = Array.from({ length: SLOTS }, () => slow(SLOW_DRAFT));
      await until(() => slowCount >= (SLOTS / 2) * (15 / 16));
      await expectPrompt(newcomer);
      isOver = true;
      enough.resolve();
      await Promise.all(quickCalls);
      assert.deepEqual(tally(await Promise.all(slowCalls)), { 200: SLOTS });
    });

  /** Waits until the worker claims no more calls: none has reached the provider for half a second. */
  async function untilSlotsAreTaken(): Promise<void> {
    for (let calls = -1; calls !== system.provider.calls.length || calls === 0; ) {
      calls = system.provider.calls.length;
      await sleep(500);
    }
  }

  async function expectPrompt(call: Call): Promise<void> {
    for (let n = 0; n < 3; n += 1) {
      const reply = await call();
      assert.equal(reply.status, 200, reply.text);
      assert.ok(reply.tookMs < PROMPT_MS, `call ${n} took ${reply.tookMs} ms`);
    }
  }
});
